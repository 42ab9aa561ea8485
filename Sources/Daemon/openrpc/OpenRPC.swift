import BledRPC
import Bluetooth

/// The description of the protocol that `rpc.discover` returns (OpenRPC 1.3), generated from the types of the messages
/// and their doc comments.
enum OpenRPC {
  /// The document, and the schemas of all members by where they are declared.
  /// - Throws: if the schema of a message cannot be derived from the way its type decodes itself.
  static func description(_ words: DocComments) throws -> (document: JSONValue, places: [String: JSONValue]) {
    var schemas = SchemaCollection(words: words)
    var methods: [JSONValue] = []
    for call in ProtocolContents.clientCalls { methods.append(try clientCall(call, &schemas)) }
    for call in ProtocolContents.daemonCalls { methods.append(.object(try method(call, sender: "daemon", &schemas))) }
    for event in ProtocolContents.notifications { methods.append(try notification(event, &schemas)) }
    // No method refers to the schema of errors.
    _ = try schemas.schema(of: RPCError.self)
    let document: JSONValue = [
      "openrpc": "1.3.2",
      "info": [
        "title": "bled", "version": .text("\(ProtocolContents.version)"),
        "description": .text(
          """
          JSON-RPC 2.0 on a Unix socket, one message per line, in both directions. x-sender says who sends a message; \
          one without a result is a notification. x-permission is the permission that a client needs to call a method; \
          session.open returns the permissions that it has. x-longestLine is how many octets a line with the call may \
          have; \(ordinaryLine) if missing. x-unit is the unit of a number.
          """),
        "x-permissions": permissions(words),
      ],
      "methods": .array(methods),
      "components": ["schemas": .object(schemas.components), "errors": .object(errors(words))],
    ]
    return (document, schemas.places)
  }

  private static func clientCall<Method: ClientCall>(
    _ type: Method.Type, _ schemas: inout SchemaCollection
  ) throws -> JSONValue {
    var method = try method(type, sender: "client", &schemas)
    if let permission = Method.method.permission { method["x-permission"] = .text(permission.rawValue) }
    let params = Set(try schemas.members(of: Method.Params.self).map(\.name))
    let errors = errors(of: type, params: params)
    if !errors.isEmpty { method["errors"] = .array(errors) }
    if Method.longestLine != ordinaryLine { method["x-longestLine"] = .integer(Method.longestLine) }
    return .object(method)
  }

  private static func method<Method: RPCMethod>(
    _ type: Method.Type, sender: JSONValue, _ schemas: inout SchemaCollection
  ) throws -> [String: JSONValue] {
    var method = try describe(Method.name, Method.summary, sender, Method.Params.self, &schemas)
    let result: JSONValue
    if Method.Result.self is any SchemaLeaf.Type {
      result = try schemas.schema(of: Method.Result.self)
    } else {
      result = schemas.object(try schemas.members(of: Method.Result.self))
    }
    method["result"] = ["name": "result", "schema": result]
    return method
  }

  private static func notification<Notification: RPCNotification>(
    _ type: Notification.Type, _ schemas: inout SchemaCollection
  ) throws -> JSONValue {
    .object(try describe(Notification.name, Notification.message.summary, "daemon", Notification.Params.self, &schemas))
  }

  private static func describe<Params: Decodable>(
    _ name: String, _ summary: String, _ sender: JSONValue, _ params: Params.Type, _ schemas: inout SchemaCollection
  ) throws -> [String: JSONValue] {
    let members = try schemas.members(of: params).map { member -> JSONValue in
      var param: [String: JSONValue] = [
        "name": .text(member.name), "required": .bool(member.required), "schema": member.schema,
      ]
      param["description"] = member.description.map { .text($0) }
      return .object(param)
    }
    return [
      "name": .text(name), "summary": .text(summary), "x-sender": sender, "paramStructure": "by-name",
      "params": .array(members),
    ]
  }
}
