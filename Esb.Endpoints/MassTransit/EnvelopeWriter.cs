using System.Buffers;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.Json;

namespace Esb.Endpoints.MassTransit;

/// <summary>Writes envelopes that MassTransit reads.</summary>
internal static class EnvelopeWriter
{
    private static readonly byte[] Host = WriteHost();

    /// <summary>Writes an envelope.</summary>
    /// <param name="envelope">The envelope; its message is JSON, which is not checked again.</param>
    public static ReadOnlyMemory<byte> Write(Envelope envelope)
    {
        var buffer = new ArrayBufferWriter<byte>(envelope.Message.Length + 1024);
        using var writer = new Utf8JsonWriter(buffer, new JsonWriterOptions { SkipValidation = true });
        writer.WriteStartObject();
        WriteText(writer, "messageId", envelope.MessageId);
        WriteText(writer, "requestId", envelope.RequestId);
        WriteText(writer, "correlationId", envelope.CorrelationId);
        WriteText(writer, "conversationId", envelope.ConversationId);
        WriteText(writer, "initiatorId", envelope.InitiatorId);
        WriteText(writer, "sourceAddress", envelope.SourceAddress);
        WriteText(writer, "destinationAddress", envelope.DestinationAddress);
        WriteText(writer, "responseAddress", envelope.ResponseAddress);
        WriteText(writer, "faultAddress", envelope.FaultAddress);
        writer.WriteStartArray("messageType");
        foreach (var type in envelope.MessageTypes)
            writer.WriteStringValue(type);
        writer.WriteEndArray();
        writer.WritePropertyName("message");
        writer.WriteRawValue(envelope.Message.Span, skipInputValidation: true);
        if (envelope.ExpirationTime is { } expires)
            writer.WriteString("expirationTime", expires.UtcDateTime);
        if (envelope.SentTime is { } sent)
            writer.WriteString("sentTime", sent.UtcDateTime);
        writer.WriteStartObject("headers");
        foreach (var (name, value) in envelope.Headers)
            writer.WriteString(name, value);
        writer.WriteEndObject();
        writer.WritePropertyName("host");
        writer.WriteRawValue(Host, skipInputValidation: true);
        writer.WriteEndObject();
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <summary>Writes the message of a fault: <c>Fault&lt;T&gt;</c> of MassTransit.</summary>
    /// <param name="faultId">The id of the fault.</param>
    /// <param name="request">The envelope of the request.</param>
    /// <param name="code">Stands as the type of the exception.</param>
    /// <param name="reason">Its text.</param>
    /// <param name="at">The time of the failure.</param>
    public static ReadOnlyMemory<byte> WriteFault(Guid faultId, Envelope request, string code, string reason, DateTimeOffset at)
    {
        var buffer = new ArrayBufferWriter<byte>(request.Message.Length + 1024);
        using var writer = new Utf8JsonWriter(buffer, new JsonWriterOptions { SkipValidation = true });
        writer.WriteStartObject();
        writer.WriteString("faultId", faultId);
        WriteText(writer, "faultedMessageId", request.MessageId);
        writer.WriteString("timestamp", at.UtcDateTime);
        writer.WriteStartArray("exceptions");
        writer.WriteStartObject();
        writer.WriteString("exceptionType", code);
        writer.WriteString("stackTrace", "");
        writer.WriteString("message", reason);
        writer.WriteString("source", "esb");
        writer.WriteEndObject();
        writer.WriteEndArray();
        writer.WritePropertyName("host");
        writer.WriteRawValue(Host, skipInputValidation: true);
        writer.WriteStartArray("faultMessageTypes");
        foreach (var type in request.MessageTypes)
            writer.WriteStringValue(type);
        writer.WriteEndArray();
        writer.WritePropertyName("message");
        writer.WriteRawValue(request.Message.Span, skipInputValidation: true);
        writer.WriteEndObject();
        writer.Flush();
        return buffer.WrittenMemory;
    }

    private static byte[] WriteHost()
    {
        using var process = Process.GetCurrentProcess();
        var assembly = (Assembly.GetEntryAssembly() ?? Assembly.GetExecutingAssembly()).GetName();
        return JsonSerializer.SerializeToUtf8Bytes(
            new
            {
                machineName = Environment.MachineName,
                processName = process.ProcessName,
                processId = Environment.ProcessId,
                assembly = assembly.Name,
                assemblyVersion = assembly.Version?.ToString(),
                frameworkVersion = Environment.Version.ToString(),
                operatingSystemVersion = RuntimeInformation.OSDescription,
            }
        );
    }

    private static void WriteText(Utf8JsonWriter writer, string name, string? value)
    {
        if (value is not null)
            writer.WriteString(name, value);
    }
}
