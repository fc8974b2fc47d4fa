using Esb.Content.Formats;
using Esb.Core.Messages;

namespace Esb.Content.Splitting;

/// <summary>Divides a text into the records of a format, each a JSON value.</summary>
internal sealed class FormatSplitter(IMessageFormat format) : IMessageSplitter
{
    public IEnumerable<SplitItem> Split(MessageBody body)
    {
        foreach (var record in format.ReadRecords(body.Bytes))
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
