internal import CSpawn
internal import Foundation

/// The process that converts one image: it reads the image from standard input, writes the photo to standard output,
/// and reports the outcome by its exit status.
///
/// The decoders may have bugs that a malicious image exploits, so the process runs in a sandbox. The server starts it
/// without environment variables, except LD_LIBRARY_PATH, and without descriptors other than standard input, output and
/// error. Standard error is /dev/null. The process then limits itself: it can open no further files, and can use only a
/// limited amount of memory and time. A seccomp filter refuses executable memory, and all system calls except the few
/// that decoding needs, such as those that read, write, manage memory or exit. If the machine or the container runs out
/// of memory, the kernel kills this process first.
package enum ImageWorker {
    /// The maximum processor time in seconds.
    static let maximumSeconds = 5
    /// The maximum wall-clock time in seconds. It also ends a process that waits for bytes that never arrive, which
    /// uses no processor time. A request waits at most eight seconds for its image, so a higher maximum would only keep
    /// other images waiting.
    package static let maximumWallSeconds = 10
    /// The command-line option that overrides ``maximumWallSeconds``.
    package static let wallSecondsOption = "wall-seconds"
    /// The maximum memory in bytes. An image has at most 40 million pixels. A PNG or WebP needs four bytes for each of
    /// them (160 MB), a progressive JPEG needs six (240 MB) besides the scaled picture (40 MB). The rest is a reserve.
    static let maximumMemory = 320 * 1024 * 1024

    /// The exit status of the process.
    enum Status: Int32 {
        case done = 0
        /// The image was converted, but without the seccomp filter, because the kernel refuses it.
        case doneUnconfined = 2
        case unsupported = 3
        case tooLarge = 4
        /// A system call failed.
        case failed = 5
        /// The kernel refuses the seccomp filter, so the image was not read.
        case unconfined = 6
    }

    /// Converts the image, and ends the process.
    ///
    /// - Parameters:
    ///   - sandbox: with `optional`, the process works with its limits alone if the kernel refuses the seccomp filter.
    ///   - wallSeconds: the maximum wall-clock time. It must be positive.
    package static func run(in sandbox: ImageSandbox, for wallSeconds: Int) -> Never {
        precondition(wallSeconds > 0, "a process without this limit could wait forever")
        setLimits(wallSeconds: wallSeconds)
        let isConfined = confine_to_computing() == 0
        if !isConfined, sandbox == .required { end(.unconfined) }
        do throws(ImageFault) {
            try write(Photo(of: read()).jpeg)
            end(isConfined ? .done : .doneUnconfined)
        } catch {
            switch error {
            case .unsupported: end(.unsupported)
            case .tooLarge: end(.tooLarge)
            }
        }
    }

    private static func end(_ status: Status) -> Never { _exit(status.rawValue) }

    /// Lowers the priority of the process, limits its memory and time, and prevents it from opening files and starting
    /// processes.
    private static func setLimits(wallSeconds: Int) {
        // 1000 is the highest value: if memory is short, the kernel kills this process first. If the file cannot be
        // written, the other limits still apply.
        if let file = fopen("/proc/self/oom_score_adj", "w") {
            fputs("1000", file)
            fclose(file)
        }
        nice(10)
        let limits: [(__rlimit_resource, Int)] = [
            (RLIMIT_CPU, maximumSeconds), (RLIMIT_DATA, maximumMemory), (RLIMIT_NOFILE, 0), (RLIMIT_FSIZE, 0),
            (__RLIMIT_NPROC, 0), (RLIMIT_CORE, 0),
        ]
        for (resource, limit) in limits {
            // At the soft limit of the processor time, the kernel ends the process with SIGXCPU, at the hard limit with
            // SIGKILL, as when memory is short. The hard limit is one second higher, so that SIGXCPU comes first: then
            // the server knows that the image has used up the time.
            let hardLimit = resource == RLIMIT_CPU ? limit + 1 : limit
            var value = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(hardLimit))
            if setrlimit(__rlimit_resource_t(resource.rawValue), &value) != 0 { end(.failed) }
        }
        alarm(UInt32(wallSeconds))
    }

    private static func read() throws(ImageFault) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { end(.failed) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            if bytes.count > ImageFile.maximumBytes { throw .tooLarge }
        }
    }

    private static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { end(.failed) }
            rest = rest.dropFirst(count)
        }
    }
}
