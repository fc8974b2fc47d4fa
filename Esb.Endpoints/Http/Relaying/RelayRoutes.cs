using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Selects the target of a relayed request (pattern: Content-Based Router). Examines only the decisive part of the body and leaves
/// the body to the relay. Thread-safe.</summary>
/// <param name="endpoint">The inbound endpoint.</param>
/// <param name="routes">The routes, in order of evaluation.</param>
/// <param name="otherwise">The target if no condition holds.</param>
/// <param name="reader">Creates the message that conditions evaluate.</param>
/// <param name="maxBodyBytes">The maximum number of body bytes to examine.</param>
/// <param name="readsProperties">True if a condition evaluates a property, which path and query bring.</param>
internal sealed class RelayRoutes(
    string endpoint,
    IReadOnlyList<RelayRoute> routes,
    RelayTarget otherwise,
    HttpMessageReader reader,
    long maxBodyBytes,
    bool readsProperties
)
{
    // Each look needs at least twice the bytes of the previous one, so a body is scanned at most twice over.
    private const int FirstLook = 4096;

    private readonly bool _readsBody = routes.Any(route => route.If.ReadsBody);

    /// <summary>Selects the target of the request.</summary>
    /// <param name="context">The request.</param>
    /// <param name="known">The message that conditions evaluate, if it exists already; its body is read here.</param>
    /// <exception cref="EsbException">Its body does not have the evaluated form, did not arrive, or does not decide within the
    /// limit.</exception>
    public ValueTask<RelayTarget> ChooseAsync(HttpContext context, EsbMessage? known = null)
    {
        if (routes.Count == 0)
            return new(otherwise);
        var envelope = known ?? reader.ReadEnvelope(context.Request);
        if (readsProperties)
            envelope = envelope with { Properties = reader.ReadProperties(context.Request) };
        return _readsBody ? LookAsync(context, envelope) : new(Choose(envelope));
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<RelayTarget> LookAsync(HttpContext context, EsbMessage envelope)
    {
        if (HttpContentRules.IsPacked(context))
            throw HttpProblems.Of(
                StatusCodes.Status415UnsupportedMediaType,
                "ESB-HTTP-ENCODING",
                "What is packed cannot be looked into on its way."
            );
        var body = context.Request.BodyReader;
        var (wanted, examined) = ((long)FirstLook, 0L);
        while (true)
        {
            var seen = await ReadAsync(context, body);
            try
            {
                if (seen.IsCompleted || seen.Buffer.Length >= wanted)
                {
                    if (TryChoose(envelope, seen) is { } target)
                        return target;
                    if (seen.Buffer.Length > maxBodyBytes)
                        throw TooLong();
                    wanted = Math.Min(2 * seen.Buffer.Length, maxBodyBytes + 1);
                }

                examined = seen.Buffer.Length;
            }
            finally
            {
                // The next reader, the relay or the server after a refusal, gets all of it. The examined length never shrinks: over HTTP/2
                // it granted the caller room.
                body.AdvanceTo(seen.Buffer.Start, seen.Buffer.GetPosition(examined));
            }
        }
    }

    private static async ValueTask<ReadResult> ReadAsync(HttpContext context, PipeReader body)
    {
        try
        {
            return await body.ReadAsync(CancellationToken.None); // a cancelled read leaves the server's body reader unusable
        }
        catch (Exception ex) when (ex is IOException or OperationCanceledException)
        {
            throw HttpContentRules.Explain(ex, context);
        }
    }

    // Null if more of the body is needed.
    private RelayTarget? TryChoose(EsbMessage envelope, ReadResult seen)
    {
        if (seen.Buffer.IsSingleSegment)
            return TryChoose(envelope, seen.Buffer.First, seen.IsCompleted);

        var length = (int)seen.Buffer.Length;
        var copy = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            seen.Buffer.CopyTo(copy);
            return TryChoose(envelope, copy.AsMemory(0, length), seen.IsCompleted);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(copy);
        }
    }

    private RelayTarget? TryChoose(EsbMessage envelope, ReadOnlyMemory<byte> bytes, bool isAll)
    {
        try
        {
            return Choose(envelope with { Body = isAll ? MessageBody.FromPassedOn(bytes) : MessageBody.FromBeginning(bytes) });
        }
        catch (BodyNotCompleteException)
        {
            return null;
        }
    }

    private RelayTarget Choose(EsbMessage message)
    {
        var context = new MessageContext(message, endpoint);
        foreach (var route in routes)
        {
            if (route.If.Holds(context))
                return route.To;
        }

        return otherwise;
    }

    private EsbException TooLong() =>
        HttpProblems.Of(
            StatusCodes.Status413PayloadTooLarge,
            "ESB-BODY-SIZE",
            $"The first {maxBodyBytes} bytes of the body do not decide where it goes."
        );
}

/// <summary>One route of a relay.</summary>
/// <param name="If">The condition of the route.</param>
/// <param name="To">The target of the route.</param>
internal sealed record RelayRoute(IMessageCondition If, RelayTarget To);
