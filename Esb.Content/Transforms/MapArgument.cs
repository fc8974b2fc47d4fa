using Esb.Core.Messages;

namespace Esb.Content.Transforms;

/// <summary>A value for a parameter of a map.</summary>
/// <param name="Name">The parameter's name.</param>
/// <param name="Value">
/// A <see cref="string"/>, <see cref="double"/> or <see cref="bool"/>, which is never parsed, or a buffered <see cref="MessageBody"/>:
/// a further document, which the parameter stands for as a node-set of its root.
/// </param>
public readonly record struct MapArgument(string Name, object Value);
