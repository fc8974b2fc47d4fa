using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;

namespace Esb.Workflows.Processes.Entry;

/// <summary>The keys by which inbound endpoints recognise repetitions, compiled, by endpoint. Immutable.</summary>
internal sealed record EntryGateModels(IReadOnlyDictionary<string, IMessageValue> Keys);

/// <summary>Compiles <c>dedupe</c> of inbound endpoints.</summary>
internal sealed class EntryGateCompiler(
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IExpressionCompiler expressions,
    SequenceUses sequences,
    ConfigErrors errors
) : ICompiler<EntryGateModels>
{
    private const string Code = "ESB-CFG-VALUE";

    public EntryGateModels Compile()
    {
        var keys = new Dictionary<string, IMessageValue>();
        foreach (var endpoint in endpoints.Values.OfType<InboundEndpointConfig>())
        {
            if (endpoint.Dedupe is not { } dedupe || !IsSound(endpoint, dedupe))
                continue;
            if (expressions.Compile(dedupe.Key, errors) is not { } key)
                continue;
            if (sequences.FirstIn(dedupe.Path) is not null)
                errors.Add("ESB-EXPR-TEMPLATE", dedupe, "key", "expected without {sequence}: a repetition has a number of its own");
            else if (endpoint.BodyTransfer == BodyTransfer.Streamed && key.ReadsBody)
                errors.Add(
                    Code,
                    endpoint,
                    "dedupe",
                    "expected a key of headers or the envelope: the body is not in memory, since the endpoint streams it"
                );
            else
                keys[endpoint.Name] = key;
        }

        return new EntryGateModels(keys);
    }

    private bool IsSound(InboundEndpointConfig endpoint, DedupeConfig dedupe)
    {
        var flaw = endpoint switch
        {
            { Relay: not null } => "expected beside a process or publish: a relay reads no message",
            { TakesInTransaction: true } => "expected beside a process: what publish takes is marked in the commit that takes it",
            _ when ReadsStore(dedupe.Key) => "expected a key that the message alone determines",
            { Mode: ExchangePattern.RequestReply } when dedupe.OnDuplicate == DuplicateMeaning.Accept =>
                "expected \"onDuplicate\": \"refuse\" in request-reply: the first answer is not kept; Idempotency-Key keeps answers",
            _ => null,
        };
        if (flaw is not null)
            errors.Add(Code, endpoint, "dedupe", flaw);
        return flaw is null && dedupe.IsWhole;
    }

    private static bool ReadsStore(ValueConfig key) => key is { State: not null } or { Lookup: not null } or { Variable: not null };
}
