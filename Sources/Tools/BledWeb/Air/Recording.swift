import BledClient
import Dispatch
private import Glibc

/// A recording of packets in memory, as the daemon writes it into a pipe.
@MainActor final class Recording {
  enum State: String, Encodable, Sendable {
    case running
    case ended
    /// The limit is reached, and recording has stopped.
    case full
  }

  /// The limit for the octets.
  static let maximumOctets = 16 << 20
  private static let readLength = 65_536

  let number: Int
  /// Seconds since the epoch.
  let since: Double
  private(set) var octets: [UInt8] = []
  private(set) var state = State.running
  private let source: any DispatchSourceRead
  private let timer: any DispatchSourceTimer
  private let ended: @MainActor () -> Void

  /// Begins to read.
  /// - Parameters:
  ///   - descriptor: the pipe, which is closed at the end: then the daemon ends the recording.
  ///   - ended: called once, at the end of the data.
  init(number: Int, since: Double, descriptor: Int32, ended: @escaping @MainActor () -> Void) {
    (self.number, self.since, self.ended) = (number, since, ended)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
    timer = DispatchSource.makeTimerSource(queue: .main)
    source.setCancelHandler { close(descriptor) }
    source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read(descriptor) } }
    // Dispatch does not always report the end of a pipe: EPOLLHUP alone is no event for it.
    timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
    timer.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read(descriptor) } }
    source.activate()
    timer.activate()
  }

  /// Ends the recording: the daemon sees that the pipe is closed.
  func cancel() {
    if state == .running { end(.ended) }
  }

  private func read(_ descriptor: Int32) {
    guard state == .running else { return }
    let count = withUnsafeTemporaryAllocation(byteCount: Self.readLength, alignment: 1) { buffer in
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { octets += buffer[..<count] }
      return count
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    if count <= 0 { return end(.ended) }
    if octets.count > Self.maximumOctets { end(.full) }
  }

  private func end(_ state: State) {
    self.state = state
    source.cancel()
    timer.cancel()
    ended()
  }
}

/// The recordings that pages started, kept until a page removes them or the program ends.
@MainActor final class Recordings {
  /// A recording in the status.
  struct Description: Encodable, Sendable {
    var recording: Int
    /// Seconds since the epoch.
    var since: Double
    var octets: Int
    var state: Recording.State
  }

  private static let maximum = 4

  private var recordings: [Recording] = []
  /// The daemon's numbers of the recordings that are running.
  private var captures: [Int: Int] = [:]
  private var last = 0
  /// Called when a recording changed.
  var changed: @MainActor () -> Void = {}

  /// The oldest first.
  var descriptions: [Description] {
    recordings.map { .init(recording: $0.number, since: $0.since, octets: $0.octets.count, state: $0.state) }
  }

  /// The octets of a recording in the form pcapng; nil without a recording of this number.
  func octets(_ number: Int) -> [UInt8]? { recordings.first { $0.number == number }?.octets }

  /// Starts a recording of all adapters, without keys.
  /// - Throws: as `BledClient.startCapture`; `BledError.limitReached`.
  func start(_ client: BledClient, at time: Double) async throws(BluetoothError) {
    guard recordings.count < Self.maximum else { throw Self.full }
    let (capture, received) = try await client.startCapture()
    // Others may have been started meanwhile; an unused descriptor ends its recording.
    guard recordings.count < Self.maximum else { throw Self.full }
    guard let descriptor = received.take() else { return }
    last += 1
    let number = last
    captures[number] = capture
    recordings.append(
      Recording(number: number, since: time, descriptor: descriptor) { [weak self] in
        self?.captures[number] = nil
        self?.changed()
      })
    changed()
  }

  private static var full: BluetoothError {
    BledError.limitReached.error("there are \(maximum) recordings: remove one of them")
  }

  /// Ends a recording: earlier packets still arrive.
  func stop(_ number: Int, _ client: BledClient) async throws(BluetoothError) {
    guard let capture = captures[number] else { return }
    _ = try await client.stopCapture(capture)
  }

  /// Removes a recording; a running one ends.
  func remove(_ number: Int) {
    guard let place = recordings.firstIndex(where: { $0.number == number }) else { return }
    recordings.remove(at: place).cancel()
    changed()
  }
}
