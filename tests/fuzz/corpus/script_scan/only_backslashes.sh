--container-\
\
\
\