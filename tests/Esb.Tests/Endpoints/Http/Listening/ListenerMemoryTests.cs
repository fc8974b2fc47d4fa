using System.Buffers;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>Bodies come in pieces as large as the blocks of the listener, not as those of the server.</summary>
[CancelAfter(30_000)]
public sealed class ListenerMemoryTests
{
    [Test]
    public async Task Body_comes_in_large_pieces(CancellationToken cancellationToken)
    {
        var config = new ListenerConfig { Name = "public", Url = $"http://127.0.0.1:{FreePorts.Next()}" };
        var route = new HttpRoute("in", "/in", ["POST"], [], HttpProblems.Instance);
        var largest = 0;
        route.Open(
            async context =>
            {
                var body = await context.Request.BodyReader.ReadAtLeastAsync(ListenerMemory.BlockBytes / 2, cancellationToken);
                foreach (var piece in body.Buffer)
                    largest = Math.Max(largest, piece.Length);
                context.Request.BodyReader.AdvanceTo(body.Buffer.End);
                context.Response.StatusCode = StatusCodes.Status204NoContent;
            },
            isBrief: false
        );
        await using var listener = new KestrelListener(config, TimeProvider.System, NullLoggerFactory.Instance);
        listener.Serve(config, new HttpRoutes([route]));
        await listener.StartAsync(cancellationToken);
        using var client = new HttpClient();

        using var answer = await client.PostAsync(
            $"{config.Url}/in",
            new ByteArrayContent(new byte[ListenerMemory.BlockBytes / 2]),
            cancellationToken
        );

        Assert.That((int)answer.StatusCode, Is.EqualTo(StatusCodes.Status204NoContent));
        Assert.That(largest, Is.GreaterThan(4096));
    }

    [Test]
    public void Block_that_came_back_last_is_the_next_to_go()
    {
        using var memory = new ListenerMemory();
        var (first, second) = (memory.Rent(), memory.Rent());
        first.Dispose();
        second.Dispose();

        Assert.That(memory.Rent(), Is.SameAs(second));
        Assert.That(memory.Rent().Memory.Length, Is.EqualTo(ListenerMemory.BlockBytes));
    }
}
