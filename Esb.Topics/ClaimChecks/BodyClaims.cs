using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.ClaimChecks;

/// <summary>Puts a reference in the place of a large body, and the body back in its place (pattern: Claim Check). Thread-safe.</summary>
/// <remarks>
/// The reference is the header <see cref="EsbHeaders.Claim"/> of a message without a body. It is believed of whomever: it cannot be guessed, so that who has one was
/// given it by somebody who had the body, and what is redeemed is proved by its hash.
/// </remarks>
/// <param name="store">Keeps the bodies.</param>
/// <param name="threshold">The largest body, in bytes, that travels whole.</param>
/// <param name="wholeTopics">Topics whose bodies always do: foreign clients read them.</param>
/// <param name="time">For dead letters, and so that the same warning comes once a minute.</param>
/// <param name="logger">Hears of a store that is away.</param>
internal sealed partial class BodyClaims(IClaimCheckStore store, long threshold, IReadOnlySet<string> wholeTopics, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan WarnInterval = TimeSpan.FromMinutes(1);

    private long _warned = long.MinValue;

    /// <summary>The message as it is published to its topic. Published again it has the same reference.</summary>
    public ValueTask<EsbMessage> CheckInAsync(EsbMessage message) =>
        message.Body.Bytes.Length <= threshold || !store.IsAvailable || wholeTopics.Contains(Subject.TopicOf(message.Subject))
            ? ValueTask.FromResult(message)
            : KeepAsync(message);

    /// <summary>The reply as it goes to a host of ours.</summary>
    public ValueTask<EsbMessage> CheckInReplyAsync(EsbMessage reply) =>
        reply.Body.Bytes.Length <= threshold || !store.IsAvailable ? ValueTask.FromResult(reply) : KeepAsync(reply);

    /// <summary>The message with its body.</summary>
    /// <exception cref="EsbException"><c>ESB-CLAIM-GONE</c>: the body is kept no more, or never was. Otherwise the store is away, and a later try may succeed.</exception>
    public async ValueTask<EsbMessage> RedeemAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        if (message.Headers[EsbHeaders.Claim] is not { } reference) return message;
        var body = ClaimTicket.Parse(reference) is { } ticket ? await store.FindAsync(ticket, cancellationToken) : null;
        if (body is null) throw new EsbException("ESB-CLAIM-GONE", $"The body is not kept any more under {reference}, or never was.", FaultKind.Invalid);
        return message with { Body = body, Headers = message.Headers.Without(EsbHeaders.Claim) };
    }

    /// <summary>A handler that gets messages with their bodies; one whose body is gone becomes a dead letter.</summary>
    public DeliveryHandler Redeeming(string endpoint, DeliveryHandler handler) => async (delivery, cancellationToken) =>
    {
        try
        {
            delivery = delivery with { Message = await RedeemAsync(delivery.Message, cancellationToken) };
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            var now = time.GetUtcNow();
            return new Settlement.Divert(new DeadLetter(delivery.Message, endpoint, ex.Code, ex.Message, null, 0, now, now));
        }

        return await handler(delivery, cancellationToken);
    };

    /// <summary>A handler of dead letters that gets them with their bodies, as far as there are any.</summary>
    public DeadLetterHandler Redeeming(DeadLetterHandler handler) => async (letter, cancellationToken) =>
    {
        try
        {
            letter = letter with { Message = await RedeemAsync(letter.Message, cancellationToken) };
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            if (letter.Code != ex.Code) letter = letter with { Reason = $"{letter.Reason} {ex.Code}: {ex.Message}" };
        }

        await handler(letter, cancellationToken);
    };

    private async ValueTask<EsbMessage> KeepAsync(EsbMessage message)
    {
        try
        {
            var ticket = await message.Body.View(bytes => new KeptBody(bytes)).KeepAsync(store);
            return message with { Body = MessageBody.Empty, Headers = message.Headers.With(EsbHeaders.Claim, ticket.ToString()) };
        }
        catch (EsbException ex)
        {
            Warn(ex.Code); // whole it travels as well: a store that is away stops no intake
            return message;
        }
    }

    private void Warn(string code)
    {
        var (now, warned) = (time.GetTimestamp(), Interlocked.Read(ref _warned));
        if (warned != long.MinValue && time.GetElapsedTime(warned, now) < WarnInterval) return;
        if (Interlocked.CompareExchange(ref _warned, now, warned) == warned) LogWhole(code);
    }

    [LoggerMessage(EventId = 1555, Level = LogLevel.Warning, Message = "Large bodies travel whole: their store takes none ({Code})")]
    private partial void LogWhole(string code);
}
