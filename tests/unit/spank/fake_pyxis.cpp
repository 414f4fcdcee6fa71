// Stands in for pyxis's library where only its being mapped matters.
extern "C" const char plugin_name[] = "pyxis";
