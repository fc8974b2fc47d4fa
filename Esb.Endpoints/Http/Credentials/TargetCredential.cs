namespace Esb.Endpoints.Http.Credentials;

/// <summary>What an endpoint proves with who it is: it stands in each of its requests, in the place of whatever came under that name. Thread-safe.</summary>
/// <param name="Header">The header.</param>
/// <param name="Value">Its value as it is now.</param>
internal sealed record TargetCredential(string Header, Func<string> Value);
