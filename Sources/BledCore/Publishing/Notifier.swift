import BledRPC
import Bluetooth
import GATT

/// Sends values of sessions to the devices that subscribed, all or none: if one of them has no room, nobody gets the value
/// and the session is called when there is room again. Devices that have not taken in a change of the services get none
/// until then (Core 5.4, Vol 3, Part G, 2.5.2.1); the session is told which.
final class Notifier {
  /// How many indications may wait for one device, which confirms them one by one.
  static let maximumIndications = 8

  private let links: LinkRegistry
  private var pendingIndications: [DeviceLink: Set<IndicationID>] = [:]
  private var waitingForRoom: [Session] = []
  private var lastIndication: UInt64 = 0

  init(links: LinkRegistry) { self.links = links }

  func send(_ value: [UInt8], of handle: UInt16, to centrals: Set<String>?, for session: Session) -> ServerNotify.Result
  {
    let subscribers = links.links.filter { device in
      guard !device.subscription(of: handle).isEmpty else { return false }
      return centrals?.contains(device.peripheral.id) ?? true
    }
    let receivers = subscribers.filter(\.isInSync)
    guard receivers.allSatisfy({ hasRoom($0, for: handle) }) else {
      if !waitingForRoom.contains(session) { waitingForRoom.append(session) }
      return .init(sent: false, receivers: 0)
    }
    for device in receivers {
      if device.subscription(of: handle).contains(.notification) {
        device.notify(value, of: handle)
      } else {
        lastIndication += 1
        let id = IndicationID(lastIndication)
        pendingIndications[device, default: []].insert(id)
        device.indicate(value, of: handle, id: id)
      }
    }
    let outOfSync = subscribers.filter { !$0.isInSync }.map(\.peripheral.id)
    return .init(sent: true, receivers: receivers.count, outOfSync: outOfSync.nonEmpty)
  }

  func finished(_ id: IndicationID, on device: DeviceLink) {
    pendingIndications[device]?.remove(id)
    roomAgain()
  }

  func ended(_ device: DeviceLink) {
    pendingIndications[device] = nil
    roomAgain()
  }

  func forget(_ session: Session) { waitingForRoom.removeAll { $0 == session } }

  /// Calls those that were refused. Whoever is too early is refused and called again.
  func roomAgain() {
    let ready = waitingForRoom
    waitingForRoom = []
    for session in ready { session.send(ServerReady.self, Empty()) }
  }

  private func hasRoom(_ device: DeviceLink, for handle: UInt16) -> Bool {
    if device.subscription(of: handle).contains(.notification) { return device.link.isWritable }
    return pendingIndications[device, default: []].count < Self.maximumIndications
  }
}
