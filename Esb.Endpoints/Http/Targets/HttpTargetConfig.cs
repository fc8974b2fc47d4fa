using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http.Targets;

/// <summary>A target that calls of an endpoint may name.</summary>
internal sealed record HttpTargetConfig : SettingsRecord
{
    [Setting("Where the call goes; never taken from a message.", Main = true, MayHoldPassword = true)]
    public required string Url { get; init; }

    [Setting("The method; by default the endpoint's.")]
    public string? Method { get; init; }
}
