namespace Esb.Core.Endpoints;

/// <summary>A setting of an outbound endpoint that reads a property of the process that calls it.</summary>
/// <param name="Setting">Path of the setting within the endpoint.</param>
/// <param name="Property">The name of the property.</param>
public sealed record PropertyUse(string Setting, string Property);
