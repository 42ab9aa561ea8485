import BledClient
import FrameworkSupport
import NearbySessions

/// The work behind a browser: the scan, and the peers reported to the program.
final class BrowserEngine: @unchecked Sendable {
  /// The news for the program, on the browser's queue.
  enum Event {
    case found(PeerIdentity, [String: String])
    case lost(PeerIdentity)
    case failed(NSError)
  }

  private struct State {
    var work: Task<Void, Never>?
    /// Counts the starts: findings of an earlier one are no longer reported.
    var number = 0
    var found = HeardPeers()
  }

  let local: LocalNode
  private let state = Guarded(State())
  private let delivery = Delivery(to: DispatchQueue(label: "MCNearbyServiceBrowser"))
  private let onEvent: (Event) -> Void

  init(_ local: LocalNode, onEvent: @escaping (Event) -> Void) { (self.local, self.onEvent) = (local, onEvent) }

  func start() {
    state.with { state in
      guard state.work == nil else { return }
      state.number += 1
      state.found = HeardPeers()
      state.work = Task { [weak self, local, number = state.number] in
        await Self.browse(local, number) { [weak self] in self }
      }
    }
  }

  func stop() {
    state.with { state in
      state.work?.cancel()
      state.work = nil
      state.number += 1
    }
  }

  /// Browses until the task is cancelled, again when the daemon is back.
  private static func browse(_ local: LocalNode, _ number: Int, _ engine: @Sendable () -> BrowserEngine?) async {
    var hasWorked = false
    while !Task.isCancelled {
      do {
        let changes = try await local.current().browse()
        hasWorked = true
        for try await change in changes {
          await local.changed(change)
          engine()?.changed(change, number)
        }
      } catch let error as BluetoothError {
        guard hasWorked else { return engine()?.failed(error, number) ?? () }
      } catch {}
      engine()?.lostAll(number)
      try? await Task.sleep(for: .seconds(1))
    }
  }

  private func changed(_ change: NearbyChange, _ number: Int) {
    state.with { state in
      guard state.number == number else { return }
      switch state.found.change(change) {
      case .found(let peer): report(.found(peer.identity, peer.information), number)
      case .lost(let peer): report(.lost(peer.identity), number)
      case nil: break
      }
    }
  }

  /// The daemon has ended.
  private func lostAll(_ number: Int) {
    state.with { state in
      guard state.number == number else { return }
      for peer in state.found.all { report(.lost(peer.identity), number) }
      state.found = HeardPeers()
    }
  }

  private func failed(_ error: BluetoothError, _ number: Int) {
    state.with { state in
      guard state.number == number else { return }
      state.work = nil
    }
    report(.failed(.multipeer(error)), number)
  }

  private func report(_ event: Event, _ number: Int) {
    let event = Carried(event)
    delivery { [self] in
      guard state[\.number] == number else { return }
      onEvent(event.value)
    }
  }
}

extension FoundPeer {
  fileprivate var identity: PeerIdentity { PeerIdentity(identifier: identifier, name: name) }
}
