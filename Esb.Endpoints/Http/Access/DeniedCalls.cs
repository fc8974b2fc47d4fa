using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Net;
using Esb.Core.Diagnostics;
using Esb.Core.Parties;
using Esb.Delivery;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Access;

/// <summary>Counts the admitted and refused calls of one endpoint; logs refused calls at intervals, per reason. Thread-safe.</summary>
internal sealed partial class DeniedCalls(string endpoint, TimeProvider time, ILogger<DeniedCalls> logger)
{
    private static readonly Counter<long> Denied = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.DeniedRequests);

    private static readonly Counter<long> Admitted = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.PartyRequests);

    private readonly LogPace[] _paces = [.. Enum.GetValues<Denial>().Select(_ => new LogPace(time))];

    public void CountAdmitted(Party party) =>
        Admitted.Add(1, new(EsbTelemetry.Tags.Endpoint, endpoint), new(EsbTelemetry.Tags.Party, party.Name));

    /// <param name="denial">The reason for the refusal.</param>
    /// <param name="code">The code sent to the caller.</param>
    /// <param name="party">The party; null if unknown.</param>
    /// <param name="address">The address of the caller.</param>
    public void Count(Denial denial, string code, Party? party, IPAddress? address)
    {
        var tags = new TagList { { EsbTelemetry.Tags.Endpoint, endpoint }, { EsbTelemetry.Tags.ErrorType, code } };
        if (party is not null)
            tags.Add(EsbTelemetry.Tags.Party, party.Name);
        Denied.Add(1, tags);
        if (_paces[(int)denial].Next() is { } silent)
            LogDenied(endpoint, denial, code, party?.Name ?? "no party", address, silent);
    }

    [LoggerMessage(
        EventId = 2170,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint} refused a call: {Denial} ({Code}), from {Party} at {Address}; {Silent} more since the last warning"
    )]
    private partial void LogDenied(string endpoint, Denial denial, string code, string party, IPAddress? address, long silent);
}
