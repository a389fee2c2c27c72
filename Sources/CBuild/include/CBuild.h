// What the build knows of the sources.

/// The commit of a release, such as `4be1ac2d90f1`; empty in any other build.
const char *source_commit(void);
