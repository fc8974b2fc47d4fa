using System.Buffers;
using System.Text.Json;
using System.Xml;
using Esb.Content.Formats;
using Esb.Content.Formats.Conversion;
using Esb.Content.Json;
using Esb.Content.Transforms;
using Esb.Content.Xml;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps.Holding;

/// <summary>Makes one body of the messages of a group. Immutable and thread-safe.</summary>
/// <param name="form">What the messages become.</param>
/// <param name="converter">Writes formats.</param>
/// <param name="xml">Reads XML.</param>
internal sealed class GroupBody(GroupFormConfig form, ContentConverter converter, XmlInput xml)
{
    public const string Array = "array";

    private const string Json = "application/json";

    /// <summary>The messages as a JSON array: what is JSON as it is, anything else as a text.</summary>
    public static EsbMessage AsArray(EsbMessage message, IReadOnlyList<EsbMessage> messages)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(output))
        {
            writer.WriteStartArray();
            foreach (var one in messages)
                writer.WriteRawValue(AnswerJson.Of(one.Body, one.ContentType).Span, skipInputValidation: true);
            writer.WriteEndArray();
        }

        return message with
        {
            Body = MessageBody.FromBytes(output.WrittenMemory),
            ContentType = Json,
        };
    }

    /// <summary>The message of a group, as configured.</summary>
    /// <param name="message">The message without its body.</param>
    /// <param name="messages">The messages of the group.</param>
    /// <param name="services">The services of the revision.</param>
    /// <param name="cancellationToken">Cancels look-ups of the map.</param>
    /// <exception cref="Core.Errors.EsbException">The bodies do not fit the form, or the map failed.</exception>
    public async ValueTask<EsbMessage> MakeAsync(
        EsbMessage message,
        IReadOnlyList<EsbMessage> messages,
        IServiceProvider services,
        CancellationToken cancellationToken
    )
    {
        if (form.Form == ContentForms.Xml)
            return AsXml(message, messages);
        var array = AsArray(message, messages);
        if (form.Map is { } name)
        {
            var map = services.GetRequiredService<IMapCatalog>().Find(name)!;
            var mapped = await map.TransformAsync(new MapCall(new MessageContext(array, "")), [], cancellationToken);
            return array with { Body = mapped.Body, ContentType = mapped.ContentType };
        }

        if (form.Form is null or Array)
            return array;
        var made = converter.Convert(array.Body, ContentForms.Json, form.Form, new ConversionOptions());
        return array with { Body = made.Body, ContentType = made.ContentType };
    }

    private EsbMessage AsXml(EsbMessage message, IReadOnlyList<EsbMessage> messages)
    {
        using var output = new MemoryStream();
        using (var writer = XmlWriter.Create(output, new XmlWriterSettings { Encoding = new System.Text.UTF8Encoding(false) }))
        {
            writer.WriteStartElement("messages");
            foreach (var one in messages)
            {
                using var reader = xml.Read(one.Body.Bytes);
                reader.MoveToContent();
                writer.WriteNode(reader, defattr: false);
            }

            writer.WriteEndElement();
        }

        return message with
        {
            Body = MessageBody.FromBytes(output.ToArray()),
            ContentType = "application/xml",
        };
    }
}
