using System.Text.Json.Serialization;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Soap.Sending;

/// <summary>The version in which an endpoint speaks.</summary>
internal enum SoapVersions
{
    /// <summary>SOAP 1.1.</summary>
    [JsonStringEnumMemberName("1.1")]
    V11,

    /// <summary>SOAP 1.2.</summary>
    [JsonStringEnumMemberName("1.2")]
    V12,
}

/// <summary>An endpoint that calls a service of SOAP.</summary>
internal sealed record SoapOutboundConfig : HttpTargetingConfig
{
    [Setting("The version of SOAP.")]
    public SoapVersions Version { get; init; }

    [Setting("The action of requests: SOAPAction, or the parameter action of the content type; empty by default.")]
    public ValueConfig? Action { get; init; }

    [Setting("Whether the service answers without an envelope; otherwise 200 without one is a failure, and 202 is not.")]
    public bool OneWay { get; init; }

    [Setting("The user name token of WS-Security in each envelope.")]
    public UsernameTokenConfig? Security { get; init; }

    /// <inheritdoc/>
    public override IEnumerable<PropertyUse> PropertyUses =>
        Action is null ? [] : PropertyNames.Of(Action).Select(name => new PropertyUse("action", name));
}

/// <summary>A user name token (WS-Security UsernameToken Profile 1.1).</summary>
internal sealed record UsernameTokenConfig : SettingsRecord
{
    [Setting("The user.")]
    public required string UserName { get; init; }

    [Setting("The password.", Secret = true)]
    public required string Password { get; init; }

    [Setting("Whether a digest of the password is sent, with a nonce and the time, instead of the password.")]
    public bool Digest { get; init; }
}
