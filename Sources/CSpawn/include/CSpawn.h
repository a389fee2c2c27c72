// Starts, awaits and confines processes. This header uses no system types: if two imported modules included the same
// system header, every Swift file that uses its types would have to import both.

/// Makes two sockets that are connected to each other. A program that another thread starts does not inherit them.
///
/// - Returns: 0, or -1 with `errno`.
int connected_sockets(int sockets[2]);

/// Starts a program with the descriptor as its standard input and output, /dev/null as its standard error, no other
/// descriptor, and the default action for every signal.
///
/// - Parameters arguments, environment: arrays that end with a null pointer.
/// - Returns: the id of the process, or -1 with `errno`.
int spawn_alone(const char *program, char *const arguments[], char *const environment[], int descriptor);

/// How a process ended.
struct ending {
    /// The exit status; -1 if a signal ended the process.
    int status;
    /// The signal that ended the process; 0 if there was none.
    int signal;
    /// Processor time in seconds.
    double seconds;
};

/// Waits until a child process has ended, without reaping it: its id cannot be reused before ``reap_process``.
///
/// - Returns: 0, or -1 with `errno`.
int await_process(int process);

/// Waits until a child process has ended, releases its id, and writes to `ending` how it ended.
///
/// - Returns: 0, or -1 with `errno`.
int reap_process(int process, struct ending *ending);

/// Restricts the process to computing, allocating and freeing memory, reading and writing open descriptors, waiting for
/// locks, reading the clock, getting random numbers, and exiting. Other system calls fail (seccomp(2)), and so does the
/// allocation of executable memory. If the kernel cannot restrict all threads, restricts only the calling thread. The
/// kernel kills the process when the thread that started it ends.
///
/// - Returns: 0, or -1 with `errno`, for example if the kernel does not support seccomp.
int confine_to_computing(void);

/// Makes the kernel write no core dump of this process, and keeps processes of the same user from reading its memory
/// (PR_SET_DUMPABLE in prctl(2)). A program that this process starts inherits the limit for core dumps (RLIMIT_CORE),
/// but not the protection from reading.
///
/// - Returns: 0, or -1 with `errno`.
int forbid_dumps(void);
