namespace Esb.Content.Transforms;

/// <summary>A parameter that a map declares at its top level (XSLT 1.0, section 11.4).</summary>
/// <param name="Name">Its local name; parameters in a namespace cannot be set from outside.</param>
/// <param name="IsRequired">Whether the map says no default for it: neither a <c>select</c> nor content.</param>
public sealed record MapParameter(string Name, bool IsRequired);
