package import Logging

/// Why there is no photo.
package enum ImageError: Error, Hashable, Sendable {
    case rejected(WorkRejection)
    case fault(ImageFault)
    /// The system gave no process, or one that did not do as it should.
    case noWorker(String)
}

/// Makes photos of images: each in a process of its own (``ImageWorker``), so many at once, and a bounded queue before them.
///
/// An image that takes too much time or memory ends its process, and is refused like any other that is none.
package final class ImagePool: Sendable {
    private let pool: WorkPool<ImageProcess>
    private let processes: [ImageProcess]
    private let logger: Logger?

    /// - Parameters:
    ///   - program: the path of what is started, which calls ``ImageWorker/run()`` when it gets these arguments.
    ///   - workers: how many processes there may be at once; each may take ``ImageWorker/maximumMemory``.
    ///   - queue: how many images may wait.
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
                logger?.warning("the system cannot confine the processes that read images (seccomp)")
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

    /// Of no use, for who never sees an image.
    package static let none = ImagePool(program: "", workers: 0, queue: 0)

    /// Images in a process.
    var running: Int { pool.load.running }

    /// Throws `busy` at once if there is no room to wait.
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
            logger?.error("there is no process for an image", metadata: ["reason": "\(reason)"])
        }
        return try result.get()
    }

    /// Refuses those who wait, ends the processes, and blocks until they are gone.
    package func shutdown() {
        for process in processes { process.stop() }
        pool.shutdown()
    }
}
