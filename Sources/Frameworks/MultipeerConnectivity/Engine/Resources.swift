import BledClient
import FrameworkSupport
import NearbySessions

/// A file being sent to a peer.
final class ResourceSending: Sendable {
  private let progress: Carried<Progress>
  private let flow = Guarded<OutgoingFlow?>(nil)

  /// - Parameter progress: cancelling it ends the transfer.
  init(_ progress: Progress) {
    self.progress = Carried(progress)
    progress.cancellationHandler = { [weak self] in
      if let flow = self?.flow[\.self] { Task { await flow.close(.cancelled) } }
    }
  }

  /// Sends a file and waits until the peer has it.
  /// - Returns: the error for the program; nil if the peer has all of it.
  func send(_ path: String, _ name: String, over connection: NearbyConnection) async -> NSError? {
    let file = FileResource(path: path)
    do throws(BluetoothError) {
      var offer = try await Self.offer(of: file)
      offer.name = name
      let flow = try await connection.offer(offer)
      self.flow[\.self] = flow
      if progress.value.isCancelled { await flow.close(.cancelled) }
      let end = try await file.send(offer, over: flow) { [progress] in
        progress.value.completedUnitCount = Int64(clamping: $0)
      }
      if end == .finished { progress.value.completedUnitCount = progress.value.totalUnitCount }
      return end.error
    } catch {
      return .multipeer(error)
    }
  }

  /// The file's hash is made on its own thread: it may take long.
  private static func offer(of file: FileResource) async throws(BluetoothError) -> ResourceOffer {
    let result = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: Result { () throws(BluetoothError) in try file.offer() })
      }
    }
    return try result.get()
  }
}

/// A file being received from a peer.
enum ResourceReceiving {
  /// Receives a file into a folder readable only by this user, and removes it after reporting it to the program.
  /// - Parameters:
  ///   - progress: cancelling it ends the transfer.
  ///   - tell: reports to the program.
  static func receive(
    _ offer: ResourceOffer, from flow: IncomingFlow, _ progress: Progress,
    tell: (Result<URL, NSError>) async -> Void
  ) async {
    let shown = Carried(progress)
    progress.cancellationHandler = { Task { await flow.close(.cancelled) } }
    var template = Array("\(NSTemporaryDirectory())/MultipeerConnectivity-XXXXXX".utf8CString)
    guard let folder = mkdtemp(&template).map({ String(cString: $0) }) else {
      await flow.close(.noRoom)
      return await tell(.failure(.multipeer(.unavailable, "no temporary folder can be made")))
    }
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if progress.isCancelled { await flow.close(.cancelled) }
    do throws(BluetoothError) {
      let (end, path) = try await FileResource.receive(offer, from: flow, into: folder) {
        shown.value.completedUnitCount = Int64(clamping: $0)
      }
      await tell(end.error.map { .failure($0) } ?? .success(URL(fileURLWithPath: path ?? folder)))
    } catch {
      await tell(.failure(.multipeer(error)))
    }
  }
}

extension FlowEnd {
  /// The error for an unfinished resource.
  fileprivate var error: NSError? {
    switch self {
    case .finished: nil
    case .cancelled: .multipeer(.cancelled, "one of the sides cancelled the resource")
    case .declined: .multipeer(.cancelled, "the peer does not want the resource")
    case .damaged: .multipeer(.unknown, "the resource was damaged on its way, or changed while it was sent")
    case .noRoom: .multipeer(.unavailable, "the peer has no room for the resource")
    case .tooMany: .multipeer(.unavailable, "too many streams and resources are open: wait for some")
    }
  }
}
