# Builds the stand-in for pyxis from its archive: the Makefile of NVIDIA's has the same shape, variables and targets.
prefix ?= /usr/local
libdir ?= $(prefix)/lib

PLUGINDIR := $(abspath $(DESTDIR)/$(libdir)/slurm)

PYXIS_VER ?= 0.24.0

PLUGIN := spank_pyxis.so

CPPFLAGS := -D_GNU_SOURCE -DPYXIS_VERSION=\"$(PYXIS_VER)\" $(CPPFLAGS)
CFLAGS := -std=gnu11 -O2 -g -Wall -fpic -fvisibility=hidden $(CFLAGS)
LDFLAGS := -Wl,-znoexecstack -Wl,-zrelro -Wl,-znow $(LDFLAGS)

C_OBJS := pyxis.o pyxis_options.o pyxis_enroot.o

all: $(PLUGIN)

$(C_OBJS): %.o: %.c
	$(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MF $*.d -c $<

$(PLUGIN): $(C_OBJS)
	$(CC) -shared $(LDFLAGS) -o $@ $^
	strip --strip-unneeded -R .comment $@

install: all
	install -d -m 755 $(PLUGINDIR)
	install -m 644 $(PLUGIN) $(PLUGINDIR)

uninstall:
	$(RM) $(PLUGINDIR)/$(PLUGIN)

clean:
	rm -rf $(C_OBJS) $(C_OBJS:.o=.d) $(PLUGIN)

.PHONY: all install uninstall clean

-include $(C_OBJS:.o=.d)
