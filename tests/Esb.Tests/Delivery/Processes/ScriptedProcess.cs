using System.Text;
using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Delivery.Processes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Delivery.Processes;

/// <summary>A process that does as the test says.</summary>
internal sealed class ScriptedProcess(Func<MessageContext, CancellationToken, Task> run) : IMessageProcess
{
    public string Name => "a-process";

    public bool NeedsTopics => false;

    /// <summary>The message of each run.</summary>
    public List<EsbMessage> Runs { get; } = [];

    /// <summary>A process that makes another body of each message.</summary>
    public static ScriptedProcess Making(Func<string, string> body) =>
        new(
            (context, _) =>
            {
                context.Message = context.Message with
                {
                    Body = MessageBody.FromText(body(Encoding.UTF8.GetString(context.Message.Body.Bytes.Span))),
                };
                return Task.CompletedTask;
            }
        );

    public static ScriptedProcess Filtering() =>
        new(
            (context, _) =>
            {
                context.Outcome = ProcessOutcome.Filtered;
                return Task.CompletedTask;
            }
        );

    public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        lock (Runs)
            Runs.Add(context.Message);
        await run(context, cancellationToken);
    }

    public DeliveredProcess At(string endpoint, IAuditTrail audit, TimeProvider time) =>
        new(endpoint, () => this, audit, maxBodyBytes: 1 << 20, time, NullLogger<DeliveredProcess>.Instance);
}
