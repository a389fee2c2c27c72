// Processes that do one thing. Names no type of the system's, since who imports two modules that bring the same header has
// to import both wherever the type is used.

/// Starts a program with that descriptor as its standard input and output, /dev/null for its errors, no other descriptor,
/// and every signal as it was made.
///
/// - Parameters arguments, environment: end with a null pointer.
/// - Returns: the number of the process, or -1 with `errno`.
int spawn_alone(const char *program, char *const arguments[], char *const environment[], int descriptor);

/// How a process ended.
struct ending {
    /// That it returned; -1 where a signal ended it.
    int status;
    /// Zero where it ended by itself.
    int signal;
    /// Processor time, in seconds.
    double seconds;
};

/// Waits until a process of ours has ended, and leaves it for ``reap_process`` to take away: until then its number is its own.
///
/// - Returns: 0, or -1 with `errno`.
int await_process(int process);

/// - Returns: 0, or -1 with `errno`.
int reap_process(int process, struct ending *ending);

/// From now on the process can compute, take and give back memory, read and write what is open, and end. Whatever else it
/// asks of the system is refused (seccomp(2)), and it ends with the thread that started it.
///
/// - Returns: 0, or -1 with `errno`, as on a system without this.
int confine_to_computing(void);
