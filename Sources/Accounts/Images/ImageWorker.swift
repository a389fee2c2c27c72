internal import CSpawn
internal import Foundation

/// The process that converts one image: it reads the image from standard input, writes the photo to standard output,
/// and reports the outcome by its exit status.
///
/// It has only what it needs: no environment, no open files, no system calls except for memory, and little time. If the
/// container runs out of memory, the kernel kills this process first.
package enum ImageWorker {
    /// The maximum processor time in seconds.
    static let maximumSeconds = 5
    /// In bytes. A PNG or WebP needs four bytes for each of 40 million pixels, a progressive JPEG six.
    static let maximumMemory = 320 * 1024 * 1024

    /// The exit status of the process.
    enum Status: Int32 {
        case done = 0
        /// Done, on a system that cannot confine the process.
        case doneUnconfined = 2
        case unsupported = 3
        case tooLarge = 4
        /// A system call failed.
        case failed = 5
    }

    package static func run() -> Never {
        confine()
        // If the system cannot do this, only the limits apply.
        let isConfined = confine_to_computing() == 0
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

    private static func confine() {
        // If memory is short, the kernel kills the process with the highest value first. Optional.
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
            // At the soft limit, SIGXCPU reports that the time is used up, before SIGKILL at the hard limit.
            let hardLimit = resource == RLIMIT_CPU ? limit + 1 : limit
            var value = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(hardLimit))
            if setrlimit(__rlimit_resource_t(resource.rawValue), &value) != 0 { end(.failed) }
        }
        // A limit of real time, for waiting for bytes that never arrive.
        alarm(UInt32(4 * maximumSeconds))
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
