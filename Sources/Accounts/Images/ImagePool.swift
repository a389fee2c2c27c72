package import Logging

/// Why no photo was made.
package enum ImageError: Error, Hashable, Sendable {
    case rejected(WorkRejection)
    case fault(ImageFault)
    /// The image process could not be started, or failed.
    case noWorker(String)
}

/// Converts images to photos, each image in its own process (``ImageWorker``), with a fixed number of workers and a
/// bounded queue.
///
/// If an image takes too much time or memory, its process is killed and the image is refused as unsupported.
package final class ImagePool: Sendable {
    private let pool: WorkPool<ImageProcess>
    private let processes: [ImageProcess]
    private let logger: Logger?

    /// - Parameters:
    ///   - program: the path of an executable that calls ``ImageWorker/run()`` when it gets these arguments.
    ///   - workers: the maximum number of processes; each may use ``ImageWorker/maximumMemory``.
    ///   - queue: the maximum number of waiting images.
    package init(
        program: String,
        arguments: [String] = ["image-worker"],
        workers: Int = 1,
        queue: Int = 16,
        metrics: Metrics = Metrics(),
        logger: Logger? = nil
    ) {
        self.logger = logger
        processes = (0..<workers).map { _ in
            ImageProcess(program: program, arguments: arguments) {
                logger?.warning("cannot confine image processes: the kernel does not support seccomp")
            }
        }
        pool = WorkPool(
            named: "image",
            processes,
            queue: queue,
            maximumWait: .seconds(60),
            priority: .normal,
            finished: { metrics.images.record($0) },
            rejected: { metrics.imagesRefused.add() }
        )
    }

    /// A pool without workers, for commands that process no images.
    package static let none = ImagePool(program: "", workers: 0, queue: 0)

    /// The number of images in a process.
    var running: Int { pool.load.running }

    /// Throws `busy` immediately if the queue is full or the wait would be too long.
    package func photo(of image: [UInt8]) async throws(ImageError) -> Photo {
        let result: Result<Photo, ImageError>
        do throws(WorkRejection) {
            result = try await pool.run { process in
                do throws(ImageError) { return .success(try process.photo(of: image)) } catch { return .failure(error) }
            }
        } catch {
            throw .rejected(error)
        }
        if case .failure(.noWorker(let reason)) = result {
            logger?.error("image process failed", metadata: ["reason": "\(reason)"])
        }
        return try result.get()
    }

    /// Rejects waiting images, kills the processes, and blocks until they have ended.
    package func shutdown() {
        for process in processes { process.stop() }
        pool.shutdown()
    }
}
