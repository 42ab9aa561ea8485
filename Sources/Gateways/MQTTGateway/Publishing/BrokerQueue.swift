import DequeModule

/// The messages on their way to the broker, in order. It does no I/O except the spool's.
///
/// | Broker    | Input                              | Message                                                       |
/// |-----------|------------------------------------|---------------------------------------------------------------|
/// | connected | send, room in the window           | to the broker                                                 |
/// | connected | send, no room, or the spool has any | to the end of the spool; from there in order                 |
/// | away      | send                               | to the end of the spool; without a spool it is lost           |
/// | connected | sendNow                            | ahead of the spool; lost with the connection                  |
/// | connected | confirmed                          | done                                                          |
/// | connected | lost                               | quality 1: sent again later; quality 0: lost, if not yet sent |
package final class BrokerQueue {
  /// The counters.
  package struct Counters: Hashable, Sendable {
    /// Messages that the broker has.
    package var published: UInt64 = 0
    /// Messages of quality 0 that were lost with the connection, and all that were lost without a spool.
    package var lost: UInt64 = 0
    /// Messages that the broker refused.
    package var refused: UInt64 = 0
    /// Messages that went through the spool.
    package var spooled: UInt64 = 0
    /// Answers and descriptions without room.
    package var unsent: UInt64 = 0
  }

  private struct Outstanding {
    let token: Int32
    let topic: String
    /// The message, if it is to be sent again and is not in the spool.
    var message: OutgoingMessage?
    /// Its place in the spool.
    var position: Spool.Position?
  }

  /// Maximum unconfirmed messages.
  private static let window = 64
  /// Maximum waiting messages outside the spool: a description of each sensor.
  private static let urgentLimit = 16384

  package let spool: Spool?
  private weak var broker: (any Broker)?
  private var urgent: Deque<OutgoingMessage> = []
  private var outstanding: Deque<Outstanding> = []
  private var isClosing = false
  package private(set) var counters = Counters()
  /// The broker refuses a message to a topic.
  package var refused: (String) -> Void = { _ in }

  /// - Parameter spool: nil: while the broker is away, messages are lost.
  package init(spool: Spool?) { self.spool = spool }

  package var isConnected: Bool { broker != nil }

  /// True if nothing is on its way; the spool may still have messages.
  package var isIdle: Bool { urgent.isEmpty && outstanding.isEmpty }

  /// From now on the spool keeps its messages.
  package func close() { isClosing = true }

  // MARK: Messages

  /// Sends a message in its order, and keeps it while the broker is away.
  package func send(_ message: OutgoingMessage) {
    if isConnected, spool?.isEmpty != false, urgent.isEmpty, outstanding.count < Self.window {
      switch hand(message) {
      case .handed(let token):
        let isKept = message.quality == .atLeastOnce
        outstanding.append(Outstanding(token: token, topic: message.topic, message: isKept ? message : nil))
        return
      case .refused: return
      case .notConnected: break
      }
    }
    guard let spool else {
      counters.lost += 1
      return
    }
    spoolOutstanding()
    if spool.append(message) != nil { counters.spooled += 1 }
    pump()
  }

  /// Sends a message as soon as there is room; it is lost without a connection to the broker.
  package func sendNow(_ message: OutgoingMessage) {
    guard isConnected, urgent.count < Self.urgentLimit else {
      counters.unsent += 1
      return
    }
    urgent.append(message)
    pump()
  }

  // MARK: The broker

  package func connected(_ broker: any Broker) {
    self.broker = broker
    pump()
  }

  /// A message is sent, or acknowledged.
  /// - Parameter isRefused: true if the broker refuses it; it is not sent again.
  package func confirmed(_ token: Int32, isRefused: Bool = false) {
    guard let index = outstanding.firstIndex(where: { $0.token == token }) else { return }
    let entry = outstanding.remove(at: index)
    if isRefused {
      counters.refused += 1
      refused(entry.topic)
    } else {
      counters.published += 1
    }
    if let position = entry.position { spool?.deliver(position) }
    pump()
  }

  /// The connection has ended.
  package func lost() {
    broker = nil
    counters.unsent += UInt64(urgent.count)
    urgent.removeAll()
    spoolOutstanding()
    for entry in outstanding where !isKept(entry) {
      // A message of quality 0 may have arrived: at most once means that it is not sent again.
      if let position = entry.position { spool?.deliver(position) }
      counters.lost += 1
    }
    outstanding.removeAll()
    spool?.rewind()
  }

  private func isKept(_ entry: Outstanding) -> Bool {
    guard entry.message != nil, let position = entry.position else { return false }
    return spool?.has(position) == true
  }

  // MARK: The window

  private func pump() {
    while isConnected, outstanding.count < Self.window {
      if let message = urgent.first {
        switch hand(message) {
        case .handed(let token): outstanding.append(Outstanding(token: token, topic: message.topic))
        case .refused: break
        case .notConnected: return
        }
        _ = urgent.popFirst()
      } else if !isClosing, let (message, position) = spool?.next() {
        switch hand(message) {
        case .handed(let token):
          let isKept = message.quality == .atLeastOnce
          outstanding.append(
            Outstanding(
              token: token, topic: message.topic, message: isKept ? message : nil, position: position))
        case .refused: spool?.deliver(position)
        // The end of the connection rewinds the spool.
        case .notConnected: return
        }
      } else {
        return
      }
    }
  }

  private func hand(_ message: OutgoingMessage) -> Handover {
    let handover = broker?.publish(message) ?? .notConnected
    if handover == .refused { counters.refused += 1 }
    return handover
  }

  /// Inserts messages to be sent again, if the connection ends, before the spool's next ones.
  private func spoolOutstanding() {
    guard let spool, spool.isEmpty else { return }
    for index in outstanding.indices {
      guard outstanding[index].position == nil, let message = outstanding[index].message else { continue }
      outstanding[index].position = spool.append(message, isHanded: true)
    }
  }
}
