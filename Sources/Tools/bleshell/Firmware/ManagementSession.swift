import BledClient
import BledRPC
import Bluetooth
import MCUmgr

/// Requests of MCUmgr to one connected device.
@MainActor final class ManagementSession {
  /// How long an answer may take, and how often a request is sent.
  private static let timeout = Duration.seconds(5)
  private static let attempts = 3

  let device: Device
  /// Octets of a packet.
  let packet: Int
  /// The number of the next request.
  private var sequence = UInt8(0)
  private let path = AttributePath.characteristic(ManagementService.characteristic, of: ManagementService.uuid)
  private let start = ContinuousClock.now
  private var assembly = FrameAssembly()
  private let answers = AnswerQueue<ManagementFrame>()
  private var reading: Task<Void, Never>?

  /// Subscribes to the answers.
  /// - Throws: `Failure` for a device without MCUmgr.
  init(_ device: Device) async throws {
    self.device = device
    packet = try await device.packetLength()
    let values: AsyncThrowingStream<[UInt8], any Error>
    do throws(BluetoothError) {
      values = try await device.peripheral.subscribe(path)
    } catch {
      guard error.domain == .bled, error.code == BledError.unknownAttribute.rawValue else { throw error }
      throw Failure(
        "\(device.name) has no service of MCUmgr (\(ManagementService.uuid)): \"services\" lists its services")
    }
    reading = Task { @MainActor [weak self] in
      do {
        for try await value in values { self?.receive(value) }
        self?.answers.ended(GAPError.disconnected.error("the device disconnected"))
      } catch {
        self?.answers.ended(error)
      }
    }
  }

  /// Ends the subscription.
  func close() { reading?.cancel() }

  /// Sends a request and returns the response.
  /// - Parameter repeats: Whether it may be sent again when no answer has come.
  /// - Throws: `Failure` without an answer; `ManagementError` if the device answers with one.
  func call(
    _ request: ManagementRequest, within timeout: Duration = timeout, repeats: Bool = true
  ) async throws -> ManagementFrame {
    var sent: [ManagementFrame] = []
    for _ in 0..<(repeats ? Self.attempts : 1) {
      let frame = request.frame(sequence: sequence)
      sequence &+= 1
      sent.append(frame)
      try await send(frame)
      let deadline = ContinuousClock.now + timeout
      while let answer = try await next(until: deadline) {
        // Also a late answer to an earlier attempt.
        guard sent.contains(where: answer.answers) else { continue }
        if let error = ManagementError(answer) { throw error }
        return answer
      }
    }
    let reason = assembly.lastFault.map { "; its last frame cannot be read: \($0)" } ?? ""
    throw Failure("\(Output.clean(device.name)) does not answer on its service of MCUmgr\(reason)", passes: true)
  }

  /// The time, for machines.
  var now: Instant { Instant.zero.advanced(by: start.duration(to: .now)) }

  /// Sends a frame, in as many packets as it needs.
  func send(_ frame: ManagementFrame) async throws {
    let octets = frame.encoded
    for place in stride(from: 0, to: octets.count, by: packet) {
      let part = Array(octets[place..<min(place + packet, octets.count)])
      try await device.peripheral.write(part, to: path, response: false)
    }
  }

  // MARK: - Answers

  /// The next frame that the device sends; nil if none has come in time, and then parts of one are dropped.
  func next(until deadline: ContinuousClock.Instant) async throws -> ManagementFrame? {
    let frame = try await answers.next(until: deadline)
    if frame == nil { assembly.reset() }
    return frame
  }

  private func receive(_ octets: [UInt8]) { answers.receive(assembly.receive(octets)) }
}

extension Device {
  /// Calls a function with a session of MCUmgr.
  func manage<Value>(_ body: @MainActor (ManagementSession) async throws -> Value) async throws -> Value {
    let session = try await ManagementSession(self)
    defer { session.close() }
    do {
      return try await body(session)
    } catch let error as ManagementError {
      throw Failure("\(Output.clean(name)): \(error)")
    }
  }
}
