import BledRPC
import Bluetooth

/// ReadValue and WriteValue of characteristics and descriptors.
final class Values {
  /// The Client Characteristic Configuration, which StartNotify writes.
  private static let configuration: BluetoothUUID = 0x2902

  private let context: Context
  private let links: Links
  private let services: Services
  private let places: AcquiredPlaces
  private let batteries: Batteries

  init(
    _ context: Context, _ links: Links, _ services: Services, _ places: AcquiredPlaces, _ batteries: Batteries
  ) {
    self.context = context
    self.links = links
    self.services = services
    self.places = places
    self.batteries = batteries
  }

  func read(_ call: BusCall, _ client: BusClient) {
    guard let attribute = services[call.path] else { return context.fail(call, .doesNotExist) }
    let offset: Int
    do throws(BusError) {
      offset = try Self.offset(call.arguments[0])
    } catch {
      return context.fail(call, error)
    }
    links.use(attribute.device, client) { [context, batteries] joined in
      let device: Device
      switch joined {
      case .failure(let error): return context.fail(call, error)
      case .success(let found): device = found
      }
      client.session.call(
        GATTRead.self, GATTRead.Params(peripheral: device.key.peripheral, handle: attribute.handle, force: true)
      ) { result in
        switch result {
        case .failure(let error): context.fail(call, Self.error(error, .notPermitted("Read not permitted")))
        case .success(let read):
          let value = read.value.octets
          guard offset <= value.count else { return context.fail(call, .invalid("Invalid offset")) }
          batteries.value(attribute, value)
          context.tree.signal(call.path, attribute.interface, "Value", .bytes(value))
          context.reply(call, .bytes(Array(value.dropFirst(offset))))
        }
      }
    }
  }

  func write(_ call: BusCall, _ client: BusClient) {
    guard let attribute = services[call.path] else { return context.fail(call, .doesNotExist) }
    guard let value = call.arguments[0].bytes else { return context.fail(call, .invalidArguments) }
    if attribute.kind == .descriptor, attribute.uuid == Self.configuration {
      return context.fail(call, .notPermitted("Write not permitted"))
    }
    if places.isTaken(call.path, .writes, for: client) {
      return context.fail(call, .notPermitted("Write acquired"))
    }
    let offset: Int
    let hasResponse: Bool
    do throws(BusError) {
      offset = try Self.offset(call.arguments[1])
      hasResponse = try Self.hasResponse(call.arguments[1], attribute)
    } catch {
      return context.fail(call, error)
    }
    links.use(attribute.device, client) { [context] joined in
      let device: Device
      switch joined {
      case .failure(let error): return context.fail(call, error)
      case .success(let found): device = found
      }
      client.session.call(
        GATTWrite.self,
        GATTWrite.Params(
          peripheral: device.key.peripheral, attribute: .handle(attribute.handle), value: HexBytes(value),
          response: hasResponse, offset: offset == 0 ? nil : offset, force: true)
      ) { result in
        context.finish(
          call, result.mapError { Self.error($0, .notPermitted("Write not permitted")) })
      }
    }
  }

  /// - Parameter refusal: the error if the characteristic's properties do not allow it: bled does not send the request.
  private static func error(_ error: BluetoothError, _ refusal: BusError) -> BusError {
    if error.domain == .bled, error.code == BledError.notAllowedByProperties.rawValue { return refusal }
    return BusError(error, otherwise: .failed(error.message))
  }

  private static func offset(_ options: BusValue) throws(BusError) -> Int {
    guard let value = options.options?.last(where: { $0.key == "offset" })?.value else { return 0 }
    guard let offset = value.integer, (0...0xFFFF).contains(offset) else { throw .invalidArguments }
    return offset
  }

  /// True if a write is a request. Without an option: a request if the characteristic allows one. A descriptor is
  /// always written by a request, regardless of the option: bleak asks for commands.
  private static func hasResponse(_ options: BusValue, _ attribute: Attribute) throws(BusError) -> Bool {
    guard case .characteristic(let properties) = attribute.kind else { return true }
    guard let value = options.options?.last(where: { $0.key == "type" })?.value else {
      return properties.contains(.write) || !properties.contains(.writeWithoutResponse)
    }
    switch value {
    case .string("request"): return true
    case .string("command"): return false
    case .string("reliable"): throw .notSupported
    default: throw .invalidArguments
    }
  }
}

extension Attribute {
  var interface: Interface { kind == .descriptor ? .descriptor : .characteristic }
}
