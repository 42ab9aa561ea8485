import DequeModule
import HCI

/// A link between two emulated controllers. Each end reports its beginning and its end at a time of its own.
final class EmulatedLink {
  /// The state of one controller.
  final class End {
    let controller: EmulatedController
    let handle: ConnectionHandle
    var outgoing: Deque<ACLDataPacket> = []
    /// Packets that have left, not reported to the host yet.
    var completed: UInt16 = 0
    /// Packets for which the host has not made room again.
    var unread = 0
    /// True once the controller has forgotten it; the host is notified next.
    var isEnding = false
    var isOver = false
    /// The key that the host gives to the other side, or answers with.
    var key: [UInt8]?

    init(_ controller: EmulatedController) {
      self.controller = controller
      handle = controller.freeHandle()
    }

    /// The packets from the host not reported to it yet.
    var unfinished: Int { outgoing.count + Int(completed) }
  }

  let ends: [End]
  private let air: EmulatedAir
  private var isEncrypted = false
  /// True while data wait for encryption to begin.
  private var isPaused = false
  private var isMoving = false

  init(_ central: EmulatedController, _ peripheral: EmulatedController, on air: EmulatedAir) {
    ends = [End(central), End(peripheral)]
    self.air = air
  }

  func joins(_ one: EmulatedController, _ other: EmulatedController) -> Bool {
    ends.contains { $0.controller === one && !$0.isOver } && ends.contains { $0.controller === other && !$0.isOver }
  }

  func other(_ end: End) -> End { ends[0] === end ? ends[1] : ends[0] }

  // MARK: Beginning and end

  func begin(_ central: HCIAddress, _ peripheral: HCIAddress) {
    for (end, role, peer) in [(ends[0], UInt8(0), peripheral), (ends[1], 1, central)] {
      // The data of the other side may arrive first.
      tell(end, in: 0...30) {
        .leConnectionComplete(
          LEConnectionComplete {
            $0.handle = end.handle
            $0.role = role
            $0.peer = peer
            ($0.interval, $0.supervisionTimeout) = (24, 400)
          })
      }
    }
  }

  /// One side ends it.
  func disconnect(_ end: End, _ reason: HCIStatus) {
    over(end, HCIStatus(.terminatedByLocalHost), in: 5...40)
    over(other(end), reason, in: 5...200)
  }

  /// A controller is out of reach, or has forgotten the link.
  func lose(_ controller: EmulatedController) {
    for end in ends {
      if end.controller === controller { forget(end) } else { over(end, HCIStatus(.connectionTimeout), in: 500...4000) }
    }
  }

  /// The other side is out of range.
  func fade() { for end in ends { over(end, HCIStatus(.connectionTimeout), in: 500...4000) } }

  private func over(_ end: End, _ reason: HCIStatus, in milliseconds: ClosedRange<Int>) {
    air.after(milliseconds) { [self] in
      guard !end.isOver, !end.isEnding else { return }
      end.isEnding = true
      air.after(0...20) { [self] in
        guard !end.isOver else { return }
        forget(end)
        end.controller.tell(
          .disconnectionComplete(
            DisconnectionComplete {
              $0.handle = end.handle
              $0.reason = reason
            }))
      }
    }
  }

  private func forget(_ end: End) {
    end.isOver = true
    end.outgoing.removeAll()
    if ends.allSatisfy(\.isOver) { air.remove(self) }
  }

  private func tell(_ end: End, in milliseconds: ClosedRange<Int>, _ event: @escaping () -> HCIEvent) {
    air.after(milliseconds) { [self] in
      guard !end.isOver, !end.isEnding else { return }
      // Like Zephyr: events of links wait behind data for which the host has no room.
      guard end.controller.hasHostRoom else { return tell(end, in: 10...50, event) }
      end.controller.tell(event())
    }
  }

  // MARK: Data

  func send(_ packet: ACLDataPacket, from end: End) {
    end.outgoing.append(packet)
    move()
  }

  /// Connection events, as long as there is something to send.
  private func move() {
    guard !isMoving, ends.contains(where: { !$0.outgoing.isEmpty }) else { return }
    isMoving = true
    air.after(5...30) { [self] in
      isMoving = false
      let isStill = isPaused || ends.contains { $0.isOver || $0.isEnding || !$0.controller.isReachable }
      for end in ends where !isStill { exchange(end) }
      move()
    }
  }

  private func exchange(_ end: End) {
    for _ in 0..<min(end.outgoing.count, air.number(in: 0...6)) {
      guard other(end).controller.hasHostRoom else {
        air.count("times without room at a host")
        break
      }
      other(end).unread += 1
      var packet = end.outgoing.removeFirst()
      end.completed += 1
      packet.handle = other(end).handle
      if packet.boundary == 0 { packet.boundary = 2 }
      other(end).controller.deliver(packet)
    }
    // Some controllers report several packets at once.
    guard end.completed > 0, end.outgoing.isEmpty || air.chance(70) else { return }
    let completed = end.completed
    end.completed = 0
    end.controller.tell(
      .numberOfCompletedPackets(
        NumberOfCompletedPackets {
          $0.links = [
            NumberOfCompletedPackets.Link {
              $0.handle = end.handle
              $0.packets = completed
            }
          ]
        }))
  }

  // MARK: Procedures

  func encrypt(_ end: End, _ command: LEEnableEncryption) {
    end.key = command.longTermKey
    isPaused = true
    tell(other(end), in: 1...40) { [other] in
      .leLongTermKeyRequest(
        LELongTermKeyRequest {
          $0.handle = other(end).handle
          ($0.randomNumber, $0.encryptedDiversifier) = (command.randomNumber, command.encryptedDiversifier)
        })
    }
  }

  /// The peripheral has a key, or nil.
  func answerKey(_ end: End, _ key: [UInt8]?) {
    defer {
      isPaused = false
      move()
    }
    let central = other(end)
    guard let key else { return tell(central, in: 1...40) { Self.encrypted(central, .pinOrKeyMissing) } }
    guard key == central.key else {
      for end in ends { over(end, HCIStatus(rawValue: 0x3D), in: 1...100) }
      return air.count("keys that differ")
    }
    air.count("encryptions")
    let isAgain = isEncrypted
    isEncrypted = true
    // The first encrypted data may overtake this.
    for end in ends {
      tell(end, in: 0...20) {
        isAgain
          ? .encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete { $0.handle = end.handle })
          : Self.encrypted(end, .success)
      }
    }
  }

  private static func encrypted(_ end: End, _ code: HCIErrorCode) -> HCIEvent {
    HostStage.encrypted(end.handle, code)
  }

  func update(_ command: LEConnectionUpdate) {
    for end in ends {
      tell(end, in: 20...300) {
        .leConnectionUpdateComplete(
          LEConnectionUpdateComplete {
            $0.handle = end.handle
            ($0.interval, $0.latency) = (command.intervalMax, command.latency)
            $0.supervisionTimeout = command.supervisionTimeout
          })
      }
    }
  }

  /// The other controller reports its features.
  func ask(_ end: End, _ event: HCIEvent) { tell(end, in: 10...300) { event } }
}
