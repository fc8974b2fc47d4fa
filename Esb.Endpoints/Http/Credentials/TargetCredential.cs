namespace Esb.Endpoints.Http.Credentials;

/// <summary>The credential of an endpoint, set on each of its requests; it replaces any header of that name. Thread-safe.</summary>
/// <param name="Header">The header.</param>
/// <param name="Value">Returns its current value.</param>
internal sealed record TargetCredential(string Header, Func<string> Value);
