using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;

namespace Esb.Tests.Endpoints.Http.Receiving;

/// <summary>Bodies of requests that are read as they arrive.</summary>
[CancelAfter(30_000)]
public sealed class RequestBodyStreamTests
{
    [Test]
    public void Connection_that_the_server_ends_is_no_slow_body(CancellationToken cancellationToken)
    {
        var context = new DefaultHttpContext { Request = { Body = new AbortedStream() } };

        var error = Assert.ThrowsAsync<EsbException>(() =>
            RequestBodyStream.Of(context, TimeSpan.FromHours(1)).CopyToAsync(Stream.Null, cancellationToken)
        )!;

        Assert.That(error.Code, Is.EqualTo("ESB-HTTP-ABORTED"));
    }

    /// <summary>Kestrel's failure to read from a connection that it has aborted.</summary>
    private sealed class AbortedStream : MemoryStream
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            ValueTask.FromException<int>(new ConnectionAbortedException());
    }
}
