import BledClient

/// The pending dials of a node, which end with it. Used within its node only.
final class Dialer {
  private let opener: ChannelOpener
  private var dials: [Int: Task<Result<ChannelOpener.Dialed, BluetoothError>, Never>] = [:]
  private var lastDial = 0
  private var hasStopped = false

  init(_ opener: ChannelOpener) { self.opener = opener }

  /// Connects to a device, reads its description, and opens a control channel.
  /// - Throws: `GAPError.cancelled` once stopped.
  func dial(
    _ peripheral: String, _ identifier: UInt64, _ hello: Hello, isolation: isolated (any Actor)? = #isolation
  ) async throws(BluetoothError) -> ChannelOpener.Dialed {
    guard !hasStopped else { throw stopped }
    lastDial += 1
    let number = lastDial
    let task = Task { [opener] in
      await Result { () async throws(BluetoothError) in try await opener.dial(peripheral, identifier, hello) }
    }
    dials[number] = task
    defer { dials[number] = nil }
    let dialed: ChannelOpener.Dialed
    do throws(BluetoothError) {
      dialed = try await task.result(
        within: ChannelOpener.limit, on: opener.settings.clock,
        or: GAPError.connectionFailed.error("the peer could not be reached in time"))
    } catch {
      throw hasStopped ? stopped : error
    }
    guard hasStopped else { return dialed }
    dialed.control.close()
    await opener.links.release(peripheral)
    throw stopped
  }

  private var stopped: BluetoothError { GAPError.cancelled.error("this side was stopped") }

  /// Ends all dials, and those to come.
  func stop() {
    hasStopped = true
    for dial in dials.values { dial.cancel() }
  }

  /// Waits until the last dial has ended.
  func ended(isolation: isolated (any Actor)? = #isolation) async {
    for dial in dials.values { _ = await dial.value }
  }
}
