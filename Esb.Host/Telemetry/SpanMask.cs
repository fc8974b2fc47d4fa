using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;
using OpenTelemetry;

namespace Esb.Host.Telemetry;

/// <summary>Takes out of a span what is masked in the message that it is about, before it is exported: libraries quote messages, such as a database in the exception that it records.</summary>
/// <remarks>A span ends in the flow of control that works on the message. Ours, and the server's, hold names of the configuration and ids only, except the header that the server shows.</remarks>
internal sealed class SpanMask(Live<IMessageMask> mask) : BaseProcessor<Activity>
{
    private const string UserAgent = "user_agent.original";

    public override void OnEnd(Activity data)
    {
        if (mask.Current.IsEmpty) return;
        foreach (ref var tag in data.EnumerateTagObjects()) tag = Clean(tag);
        foreach (ref var happened in data.EnumerateEvents())
            happened = new ActivityEvent(happened.Name, happened.Timestamp, new ActivityTagsCollection(happened.Tags.Select(tag => Clean(tag))));
        if (data.StatusDescription is { } description) data.SetStatus(data.Status, MaskedFlow.Clean(description));
    }

    private KeyValuePair<string, object?> Clean(KeyValuePair<string, object?> tag) =>
        tag.Value is string text && !IsOurs(tag.Key) ? KeyValuePair.Create<string, object?>(tag.Key, Clean(tag.Key, text)) : tag;

    // The server shows it of every request, also where the endpoint does not let it into the message.
    private string Clean(string name, string text)
    {
        var clean = MaskedFlow.Clean(text);
        if (name != UserAgent) return clean;
        var message = EsbMessage.Create(MessageBody.Empty, TimeProvider.System) with { Headers = MessageHeaders.From([KeyValuePair.Create("user-agent", clean)]) };
        return mask.Current.Apply(message).Secrets.Remove(clean);
    }

    // They say what the configuration says. A word of it that a message happens to hold is no secret.
    private static bool IsOurs(string name) =>
        name.StartsWith("messaging.", StringComparison.Ordinal) || name.StartsWith("esb.", StringComparison.Ordinal) || name is "http.route" or "http.request.method" or EsbTelemetry.Tags.ErrorType;
}
