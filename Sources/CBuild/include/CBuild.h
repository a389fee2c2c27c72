// What the build knows of the sources.

/// The commit of a release, such as `4be1ac2d90f1`, or `git3.4be1ac2d90f1` for the third commit after the tag of its version;
/// empty in any other build.
const char *source_commit(void);
