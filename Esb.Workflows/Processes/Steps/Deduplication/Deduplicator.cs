using System.Security.Cryptography;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps.Deduplication;

/// <summary>Lets each message pass once, by a key (pattern: Idempotent Receiver). A message is remembered when its process has succeeded.
/// Thread-safe.</summary>
/// <param name="settings">The settings.</param>
/// <param name="place">Path or id of the settings: what is remembered belongs to it, and to the endpoint that received the message.</param>
/// <param name="key">The compiled key.</param>
/// <param name="services">The services of the bus.</param>
internal sealed class Deduplicator(DedupeConfig settings, string place, IMessageValue key, IServiceProvider services)
{
    /// <summary>The code of a message whose key another one holds.</summary>
    public const string Running = "ESB-DEDUPE-RUNNING";

    private const string Code = "ESB-DEDUPE-DUPLICATE";
    private const string Reason = "A message with the same key was processed before.";

    private readonly IIdempotencyKeys _keys = services.GetRequiredService<IIdempotencyKeys>();
    private readonly IEndpointMarks _marks = services.GetRequiredService<IEndpointMarks>();
    private readonly ArrivingMessages _arriving = services.GetRequiredService<ArrivingMessages>();
    private readonly TimeProvider _time = services.GetRequiredService<TimeProvider>();
    private readonly IAuditTrail? _audit = services.GetService<IAuditTrail>();
    private readonly ILogger<MessageClaim> _logger = services.GetRequiredService<ILogger<MessageClaim>>();

    /// <summary>Lets a message pass, or ends its process.</summary>
    /// <exception cref="EsbException"><c>ESB-DEDUPE-DUPLICATE</c>, if configured; <c>ESB-DEDUPE-RUNNING</c>: the first one is being
    /// processed; or the store failed.</exception>
    public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        if (MessageValues.AsText(key.Evaluate(context)) is not { } value)
            return;
        var hash = SHA256.HashData(Encoding.UTF8.GetBytes(value));
        var name = new IdempotencyKey(context.Endpoint, IdempotencyKey.Dedupe, $"dedupe {place} {Convert.ToHexStringLower(hash)}");
        var first = await FindAsync(name, cancellationToken);
        if (first is null)
        {
            var claim = await _keys.ClaimAsync(name, hash, cancellationToken) as KeyClaim.Granted ?? throw Held();
            var ending = new MessageClaim(claim, context, settings.For, _keys, _marks, _arriving, _time, _logger);
            context.End!.Add(ending);
            first = await FindAsync(name, cancellationToken);
            if (first is null)
                return; // not remembered by the one that had the claim before
            ending.Forgo();
        }

        await EndAsync(context, first);
    }

    private async Task<string?> FindAsync(IdempotencyKey name, CancellationToken cancellationToken) =>
        _arriving.Find(name) ?? await _marks.FindAsync(name.Endpoint, name.Value, cancellationToken);

    private async ValueTask EndAsync(MessageContext context, string first)
    {
        // What a source brings again, because the host died before the source knew, was accepted the first time. Of a request, the answer
        // is lost.
        var isItself = first == $"{context.HeldId}" && !context.IsRequest;
        if (settings.OnDuplicate == DuplicateMeaning.Refuse && !isItself)
            throw new EsbException(Code, Reason, FaultKind.Invalid) { Status = 409 };
        if (_audit is not null)
        {
            var fact = AuditFacts.Of(context.Received, AuditKind.Duplicate, _time) with
            {
                Endpoint = context.Endpoint,
                Process = context.Process.Length == 0 ? null : context.Process,
                Step = place,
                Code = Code,
                Reason = Reason,
            };
            await _audit.RecordAsync(fact, CancellationToken.None);
        }

        if (Guid.TryParse(first, out var id))
            context.AnsweredAs = id;
        context.Outcome = ProcessOutcome.Filtered;
    }

    private static EsbException Held() =>
        new(Running, "A message with the same key is being processed.", FaultKind.Unavailable) { RetryAfter = TimeSpan.FromSeconds(1) };
}
