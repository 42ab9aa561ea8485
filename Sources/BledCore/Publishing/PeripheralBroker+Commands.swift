import BledRPC

/// Write Commands: the device hears nothing of what becomes of them, so the session does.
extension PeripheralBroker {
  /// Of so many devices at a time losses are told; anybody may come under ever new addresses. Those of more are counted only.
  static let mostUntold = 1024

  /// Hands a session a Write Command. From the first that has no room until there is ample room again those of the device are lost,
  /// so that what is told of them stands where the gap is.
  func hand(_ command: ServerWrite.Params, to session: Session, from device: DeviceLink) {
    if !session.outbox.isCongested { tellLosses(to: session) }
    if session.untoldLosses[command.central] != nil
      || session.callWithoutAnswer(ServerWrite.self, command) == .refused
    {
      session.costs.packetsLost += 1
      lost(1, from: device, to: session)
    }
    device.brake(for: session, users: users(device))
  }

  /// The machine had no room for packets of a device: Write Commands may have been among them.
  func lost(_ packets: Int, on device: DeviceLink) {
    for session in device.served.sorted(by: { $0.id < $1.id }) {
      // Who subscribes, too, has them counted already.
      if !device.subscriptions.values.contains(where: { $0.members.contains(session) }) {
        session.costs.packetsLost += packets
      }
      lost(packets, from: device, to: session)
    }
  }

  private func lost(_ packets: Int, from device: DeviceLink, to session: Session) {
    let isFirst = session.untoldLosses.isEmpty
    let central = device.peripheral.id
    guard session.untoldLosses[central] != nil || session.untoldLosses.count < Self.mostUntold else { return }
    session.untoldLosses[central, default: 0] += packets
    guard isFirst else { return }
    if !session.outbox.isCongested { tellLosses(to: session) }
    guard !session.untoldLosses.isEmpty else { return }
    session.whenRelieved { [weak self, weak session] in
      if let session { self?.tellLosses(to: session) }
    }
  }

  private func tellLosses(to session: Session) {
    for (central, packets) in session.untoldLosses.sorted(by: { $0.key < $1.key }) {
      let params = ServerWritesLost.Params(central: central, packets: packets)
      let line = session.encoded { try RPCEncoding.notification(ServerWritesLost.self, params) }
      guard session.send(line, as: .value) == .queued else { return }
      session.untoldLosses[central] = nil
    }
  }
}
