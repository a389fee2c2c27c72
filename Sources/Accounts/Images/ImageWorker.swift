internal import CSpawn
internal import Foundation

/// The process that looks at one image, and at nothing else: the image comes on its standard input, the photo goes to its
/// standard output, and its status says what became of it.
///
/// It has nothing that it does not need: no environment, no open files, no right to open others or to ask anything of the
/// system but memory, and little time. Where the memory of the container ends, it ends first.
package enum ImageWorker {
    /// Processor time, in seconds.
    static let maximumSeconds = 5
    /// Of 40 million pixels a PNG or a WebP needs four bytes each, a JPEG in many scans six.
    static let maximumMemory = 320 * 1024 * 1024

    /// How the process ends.
    enum Status: Int32 {
        case done = 0
        /// Done as well, on a system that could not confine it.
        case doneUnconfined = 2
        case unsupported = 3
        case tooLarge = 4
        /// It was not asked as it should be.
        case confused = 5
    }

    package static func run() -> Never {
        confine()
        // On a system that cannot, the limits have to do.
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
        // Whoever has the most of this is ended first where memory is short. A system without it does without.
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
            // A signal of its own says that it was the time.
            let most = resource == RLIMIT_CPU ? limit + 1 : limit
            var value = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(most))
            if setrlimit(__rlimit_resource_t(resource.rawValue), &value) != 0 { end(.confused) }
        }
        // Also while it waits for bytes that do not come.
        alarm(UInt32(4 * maximumSeconds))
    }

    private static func read() throws(ImageFault) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { end(.confused) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            if bytes.count > ImageFile.maximumBytes { throw .tooLarge }
        }
    }

    private static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { end(.confused) }
            rest = rest.dropFirst(count)
        }
    }
}
