using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>An entry of the <c>routes</c> of an endpoint that relays.</summary>
internal sealed record RelayRouteConfig : SettingsRecord
{
    [Setting("When a request goes this way.")]
    public required ConditionConfig If { get; init; }

    [Setting("The http-outbound endpoint that it is relayed to.", Reference = "endpoints")]
    public required string Relay { get; init; }
}
