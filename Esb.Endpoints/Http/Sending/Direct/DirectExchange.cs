using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Relaying;
using Esb.Endpoints.Http.Servers;
using Esb.Endpoints.Http.Transport;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Sending.Direct;

/// <summary>Sends requests over the connections that relays use (ADR 7), and reads their answers: fewer threads and less garbage than the
/// platform's client. Thread-safe.</summary>
internal sealed class DirectExchange(
    HttpOutboundConfig config,
    HttpTarget target,
    HeaderRules answerRules,
    long maxBodyBytes,
    TimeProvider time
)
{
    /// <exception cref="EndpointException">There is no answer, or none that can be used.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<EsbMessage?> SendAsync(DirectRequest request, CancellationToken cancellationToken)
    {
        using var span = RelaySpan.Start(request.Method, request.Url);
        try
        {
            var turn = target.Servers.Begin();
            var server = turn.Next()!;
            while (true)
            {
                try
                {
                    var answer = await AuthorizeAsync(server, request, cancellationToken);
                    RelaySpan.End(span, int.Parse(answer.Headers[EsbHeaders.Status]!, System.Globalization.CultureInfo.InvariantCulture));
                    return answer;
                }
                catch (EndpointException ex) when (ex is { IsOutage: true } or { IsUnanswered: true })
                {
                    server.NoteFailure();
                    if (!FailOverHandler.MayPassOn(ex, request.IsRepeatable) || turn.Next() is not { } next)
                        throw;
                    server = next; // it gets a request that was not sent, or that may be repeated
                }
            }
        }
        catch (Exception ex)
        {
            RelaySpan.Fail(span, ex);
            throw;
        }
        finally
        {
            await PoolThread.SwitchAsync(); // what follows may block
        }
    }

    private ValueTask<EsbMessage> AuthorizeAsync(HttpServer server, DirectRequest request, CancellationToken cancellationToken) =>
        target.Credential is { } credential
            ? AuthorizeAsync(credential, server, request, cancellationToken)
            : ExchangeAsync(server, request, value: null, cancellationToken);

    // A request refused with 401 is sent once more if the credential can be renewed.
    private async ValueTask<EsbMessage> AuthorizeAsync(
        TargetCredential credential,
        HttpServer server,
        DirectRequest request,
        CancellationToken cancellationToken
    )
    {
        var value = await credential.CurrentAsync(cancellationToken);
        var answer = await ExchangeAsync(server, request, value, cancellationToken);
        if (answer.Headers[EsbHeaders.Status] != "401" || !credential.Refuse(value))
            return answer;
        await PoolThread.SwitchAsync(); // to renew a credential may take long
        return await ExchangeAsync(server, request, await credential.CurrentAsync(cancellationToken), cancellationToken);
    }

    // A server may close a connection just as it is reused: what may be sent again is then sent over a new one.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<EsbMessage> ExchangeAsync(
        HttpServer server,
        DirectRequest request,
        string? value,
        CancellationToken cancellationToken
    )
    {
        for (var isNew = false; ; isNew = true)
        {
            OutsideConnection? connection = null;
            try
            {
                connection = await server.Connections.RentAsync(isNew, config.Timeout, cancellationToken);
                EsbMessage answer;
                using (cancellationToken.UnsafeRegister(static connection => ((OutsideConnection)connection!).Abort(), connection))
                {
                    await request.SendAsync(connection, server, config.KeepAlive, target.Credential, value);
                    await DirectAnswer.ReadHeadAsync(connection);
                    var body = await ReadBodyAsync(connection, request.Method, cancellationToken);
                    answer = DirectAnswer.Read(request.Message, connection.Head, body, answerRules, time);
                }

                if (connection.Head.KeepsConnection && connection.Body.IsComplete)
                    server.Connections.Return(connection);
                else
                    server.Connections.Discard(connection);
                return answer;
            }
            catch (Exception ex)
            {
                if (connection is not null)
                    server.Connections.Discard(connection);
                if (ex is EsbException)
                    throw;
                if (cancellationToken.IsCancellationRequested)
                    throw new OperationCanceledException("The request was cancelled.", ex, cancellationToken);
                if (ex is OutsideException && connection is { IsReused: true, HasReceived: false } && !isNew && request.MaySendAgain)
                    continue;
                if (HttpFailures.Of(config.Name, server.Url, ex, cancellationToken) is { } failure)
                    throw failure;
                throw;
            }
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<MessageBody> ReadBodyAsync(OutsideConnection connection, string method, CancellationToken cancellationToken)
    {
        try
        {
            var bytes = await DirectAnswer.ReadBodyAsync(connection, method, maxBodyBytes);
            if (bytes.Length == 0 || HttpMethods.IsHead(method))
                return MessageBody.Empty;
            if (DirectAnswer.CodingOf(connection.Head) is not { } coding)
                return MessageBody.FromBytes(bytes);
            await PoolThread.SwitchAsync(); // unpacking takes long
            await using var unpacked =
                DirectAnswer.TryUnpack(coding, bytes)
                ?? throw Unusable("ESB-HTTP-ENCODING", "is packed in a way that it was not asked for");
            var body = MessageBody.FromStream(unpacked);
            await body.BufferAsync(maxBodyBytes, cancellationToken);
            return body;
        }
        catch (EsbException ex) when (ex is not EndpointException)
        {
            throw Unusable("ESB-HTTP-ANSWERSIZE", $"is larger than {maxBodyBytes} bytes", ex);
        }
        catch (Exception ex) when (HttpAnswers.IsDamage(ex))
        {
            throw Unusable("ESB-HTTP-DECODE", "says that it is packed, but is damaged", ex);
        }
    }

    private EndpointException Unusable(string code, string flaw, Exception? cause = null) =>
        new(config.Name, code, $"The answer of the endpoint '{config.Name}' {flaw}.", isTransient: false, cause);
}
