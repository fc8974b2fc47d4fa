using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Delivery.Processes;
using Esb.Tests.Fakes;
using Esb.Tests.Workflows.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Delivery.Processes;

/// <summary><c>{sequence}</c> in the <c>reply</c> process of an outbound endpoint.</summary>
[CancelAfter(30_000)]
public sealed class ReplyNumberTests
{
    [Test]
    public async Task Answer_has_the_number_of_the_message_that_was_sent_and_takes_none(CancellationToken cancellationToken)
    {
        var marks = new KeptMarks();
        using var processes = new CompiledProcesses(
            """{ "main": [{ "set": { "headers": { "x-number": { "template": "{sequence}" } } } }] }""",
            register: services => services.AddSingleton<IEndpointMarks>(marks)
        );
        var time = TimeProvider.System;
        var reply = new DeliveredProcess(
            "invoices",
            () => processes.Main,
            new AuditLog(),
            maxBodyBytes: 1 << 20,
            time,
            NullLogger<DeliveredProcess>.Instance
        );
        var sent = Some.Message();
        await marks.NumberAsync("invoices", sent.Id, cancellationToken);

        var answer = await reply.ReplyAsync(sent, sent.Reply(MessageBody.FromText("ok"), time), unitOfWork: null, cancellationToken);

        var next = await marks.NumberAsync("invoices", Guid.NewGuid(), cancellationToken);
        Assert.That((answer.Headers["x-number"], next), Is.EqualTo(("1", 2)), "no gap");
    }
}
