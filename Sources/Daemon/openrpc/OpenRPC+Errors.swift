import BledRPC
import Bluetooth

extension OpenRPC {
  /// The errors that methods can fail with, by name, for `components`: the errors of JSON-RPC, of `gap` and of `bled`.
  /// The codes of `att` and `hci` are the specification's.
  static func errors(_ words: DocComments) -> [String: JSONValue] {
    var errors: [String: JSONValue] = [:]
    let reserved = [
      ("parseError", RPCError.parseError), ("invalidRequest", RPCError.invalidRequest),
      ("methodNotFound", RPCError.methodNotFound), ("invalidParams", RPCError.invalidParams),
      ("internalError", RPCError.internalError),
    ]
    for (name, code) in reserved {
      errors[name] = ["code": .integer(code), "message": .text(words.member("RPCError.\(name)") ?? name)]
    }
    let failures =
      GAPError.allCases.map { ("GAPError", $0.error("")) } + BledError.allCases.map { ("BledError", $0.error("")) }
    for (type, error) in failures {
      errors[error.name] = [
        "code": .integer(RPCError.operationFailed),
        "message": .text(words.member("\(type).\(error.name)") ?? error.name),
        "data": [
          "domain": .text(error.domain.rawValue), "code": .integer(error.code), "name": .text(error.name),
        ],
      ]
    }
    return errors
  }

  /// References to the errors that follow from a method's permission and params. Its summary names others.
  static func errors<Method: ClientCall>(of type: Method.Type, params: Set<String>) -> [JSONValue] {
    var errors: [BluetoothError] = []
    if Method.method.permission != nil { errors.append(BledError.notPermitted.error("")) }
    if !params.isEmpty { errors.append(BledError.invalidParameter.error("")) }
    if params.contains("adapter") { errors.append(GAPError.adapterAbsent.error("")) }
    if params.contains("peripheral") { errors.append(GAPError.unknownDevice.error("")) }
    if Method.name.hasPrefix("gatt.") {
      errors += [GAPError.notConnected, .disconnected, .timeout].map { $0.error("") }
    }
    let hasNumber = !params.isDisjoint(with: ["handle", "channel", "advertising"])
    if hasNumber { errors.append(BledError.unknownHandle.error("")) }
    if params.contains("characteristic") {
      errors += [BledError.unknownAttribute, .ambiguousAttribute].map { $0.error("") }
    }
    return errors.map { ["$ref": .text("#/components/errors/\($0.name)")] }
  }

  /// A description of each permission.
  static func permissions(_ words: DocComments) -> JSONValue {
    let permissions = Permission.allCases.map { permission in
      (permission.rawValue, JSONValue.text(words.member("Permission.\(permission)") ?? ""))
    }
    return .object(Dictionary(permissions, uniquingKeysWith: { $1 }))
  }

  /// Where the errors and the permissions are declared, as `GAPError.timeout`.
  static let placesOfConstants: [String] =
    ["parseError", "invalidRequest", "methodNotFound", "invalidParams", "internalError"].map { "RPCError.\($0)" }
    + GAPError.allCases.map { "GAPError.\($0)" } + BledError.allCases.map { "BledError.\($0)" }
    + Permission.allCases.map { "Permission.\($0)" }
}
