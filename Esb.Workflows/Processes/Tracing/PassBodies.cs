using System.Text;
using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Processes.Tracing;

namespace Esb.Workflows.Processes.Tracing;

/// <summary>The bodies of a pass, masked and cut; a body that several steps find is kept once. Used by one caller at a time.</summary>
internal sealed class PassBodies(IMessageMask mask, TraceBudget budget)
{
    /// <summary>The most bytes of a body that are kept.</summary>
    public const int MostBytes = 64 * 1024;

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly Dictionary<(MessageBody, string?), int> _numbers = [];
    private readonly List<TracedBody> _bodies = [];

    public IReadOnlyList<TracedBody> All => [.. _bodies];

    /// <summary>Returns the number of the body of a message, and keeps it if it is new.</summary>
    public int Take(EsbMessage message)
    {
        if (_numbers.TryGetValue((message.Body, message.ContentType), out var number))
            return number;
        number = _bodies.Count;
        _bodies.Add(Read(number, message));
        _numbers[(message.Body, message.ContentType)] = number;
        return number;
    }

    /// <summary>Releases the bodies themselves; what was kept of them stays.</summary>
    public void Forget() => _numbers.Clear();

    private TracedBody Read(int number, EsbMessage message)
    {
        var none = new TracedBody(number, TracedBodyState.Streaming, message.ContentType, message.Body.Length, Text: null);
        if (!message.Body.IsBuffered || !message.Body.IsComplete)
            return none;
        var masked = mask.Apply(message);
        if (masked.State == AuditBodyState.Withheld)
            return none with { State = TracedBodyState.Withheld };
        if (masked.Message.Body is not { IsBuffered: true, IsComplete: true } body)
            return none;
        if (TextOf(body.Bytes, out var isCut) is not { } text)
            return none with { State = TracedBodyState.Binary };
        if (!budget.TryTakeText(text.Length))
            return none with { State = TracedBodyState.OverLimit };
        return none with
        {
            State =
                isCut ? TracedBodyState.Truncated
                : masked.State == AuditBodyState.Whole ? TracedBodyState.Whole
                : TracedBodyState.Masked,
            Text = text,
        };
    }

    // A cut may go through a character: up to three bytes at its end belong to none.
    private static string? TextOf(ReadOnlyMemory<byte> bytes, out bool isCut)
    {
        isCut = bytes.Length > MostBytes;
        var length = Math.Min(bytes.Length, MostBytes);
        if (isCut)
        {
            while (length > 0 && (bytes.Span[length] & 0xC0) == 0x80)
                length--;
        }

        try
        {
            return Strict.GetString(bytes.Span[..length]);
        }
        catch (DecoderFallbackException)
        {
            return null;
        }
    }
}
