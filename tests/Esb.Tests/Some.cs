using System.Text;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Tests;

/// <summary>Builds messages for tests: what a test does not name does not matter to it.</summary>
internal static class Some
{
    public static EsbMessage Message(string body = "<order/>", string subject = "", string? key = null, string? contentType = null) =>
        EsbMessage.Create(MessageBody.FromBytes(Encoding.UTF8.GetBytes(body)), TimeProvider.System) with
        {
            Subject = subject,
            Key = key,
            ContentType = contentType,
        };

    public static MessageContext Context(string body = "<order/>") => new(Message(body), "an-endpoint");

    public static MessageContext Context(EsbMessage message) => new(message, "an-endpoint");
}
