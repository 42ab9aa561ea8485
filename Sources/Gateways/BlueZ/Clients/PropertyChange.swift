/// A call of a program that sets a property, with a value of its type.
struct PropertyChange {
  let call: BusCall
  let name: String
  let value: BusValue
  let client: BusClient
}
