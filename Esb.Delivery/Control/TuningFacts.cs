using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Control;

/// <summary>Records who tuned what, from which value to which. Thread-safe.</summary>
internal sealed partial class TuningFacts(IAuditTrail audit, TimeProvider time, ILogger<TuningFacts> logger)
{
    /// <summary>Records one fact for each setting that changed.</summary>
    public async Task RecordAsync(
        string endpoint,
        IReadOnlyDictionary<string, string> configured,
        EndpointTuning before,
        EndpointTuning after,
        OperatorDecision decision
    )
    {
        var (old, changed) = (TuningValues.Of(before), TuningValues.Of(after));
        foreach (var setting in old.Keys.Union(changed.Keys))
        {
            var (from, to) = (old.GetValueOrDefault(setting), changed.GetValueOrDefault(setting));
            if (from != to)
                await RecordAsync(
                    endpoint,
                    setting,
                    from ?? configured.GetValueOrDefault(setting),
                    to ?? configured.GetValueOrDefault(setting),
                    isReset: to is null,
                    decision
                );
        }
    }

    private async Task RecordAsync(string endpoint, string setting, string? from, string? to, bool isReset, OperatorDecision decision)
    {
        var fact = AuditFacts.Of(EsbMessage.Create(MessageBody.Empty, time), AuditKind.Recorded, time) with
        {
            Name = "tuning",
            Endpoint = endpoint,
            Reason = decision.Reason,
            Fields = new Dictionary<string, string>
            {
                ["operator"] = decision.By,
                ["setting"] = setting,
                ["from"] = from ?? "",
                ["to"] = to ?? "",
                ["reset"] = isReset ? "true" : "false",
            },
        };
        try
        {
            await audit.RecordAsync(fact, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogNotRecorded(endpoint, setting, ex); // the change itself has succeeded
        }
    }

    [LoggerMessage(
        EventId = 2499,
        Level = LogLevel.Error,
        Message = "The tuning of {Setting} of endpoint {Endpoint} could not be recorded"
    )]
    private partial void LogNotRecorded(string endpoint, string setting, Exception exception);
}
