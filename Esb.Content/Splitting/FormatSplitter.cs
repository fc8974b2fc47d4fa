using Esb.Content.Formats;
using Esb.Core.Messages;

namespace Esb.Content.Splitting;

/// <summary>Divides a text into the records of a format, each a JSON value.</summary>
internal sealed class FormatSplitter(IMessageFormat format) : IMessageSplitter
{
    public bool CanStream => format.CanStream;

    public IEnumerable<SplitItem> Split(MessageBody body)
    {
        using var stream = body.CanReopen ? body.OpenRead() : null;
        foreach (var record in stream is null ? format.ReadRecords(body.Bytes) : format.ReadRecords(stream))
        {
            yield return record.Fault is null
                ? new SplitItem(MessageBody.FromBytes(record.Json), "application/json")
                {
                    Line = record.Line,
                    Properties = record.Surroundings,
                }
                : new SplitItem(MessageBody.FromBytes(record.Text), "text/plain; charset=utf-8")
                {
                    Line = record.Line,
                    Properties = record.Surroundings,
                    Fault = record.Fault,
                };
        }
    }
}
