// The commit from which this program was built.

/// The environment variable `COMMIT` of the build, such as `4be1ac2d90f1`. For a release of the third commit after the
/// tag of its version, it is `git3.4be1ac2d90f1`. Empty if the variable was not set.
const char *source_commit(void);
