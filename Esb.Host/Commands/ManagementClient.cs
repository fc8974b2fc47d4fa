using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Host.Commands.Audit;
using Esb.Host.Management;
using Esb.Host.Management.Messages;

namespace Esb.Host.Commands;

/// <summary>A client of a running host's management API.</summary>
internal sealed class ManagementClient : IMessageSearch, IDisposable
{
    private static readonly TimeSpan AnswerTime = TimeSpan.FromSeconds(60);
    private readonly HttpClient _http;
    private readonly Uri _host;
    private bool _reached;

    public ManagementClient(Uri host, string? key)
    {
        _host = host;
        var handler = new SocketsHttpHandler
        {
            UseProxy = false,
            AllowAutoRedirect = false,
            RequestHeaderEncodingSelector = (_, _) => Encoding.UTF8,
        }; // for user names
        _http = new HttpClient(handler) { BaseAddress = host, Timeout = AnswerTime };
        if (key is not null)
            _http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", key);
    }

    /// <summary>The place where the key was searched, for the error message about a missing key.</summary>
    public string KeyFile { get; init; } = ManagementKey.DefaultFile;

    /// <summary>How long a host may take to show that it is there; the request itself may take longer.</summary>
    public TimeSpan ReachTime { get; init; } = CommandContext.DefaultReachTime;

    public void Dispose() => _http.Dispose();

    public async Task<IReadOnlyList<EndpointStatus>> GetEndpointsAsync(CancellationToken cancellationToken) =>
        (await GetAsync<Page<EndpointStatus>>("api/endpoints", cancellationToken)).Items;

    public Task<TunedEndpoint> TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken) =>
        PatchAsync<TunedEndpoint>($"api/endpoints/{Uri.EscapeDataString(endpoint)}", tuning, cancellationToken);

    public Task<TunedEndpoint> ResetAsync(string endpoint, string? setting, CancellationToken cancellationToken) =>
        DeleteAsync<TunedEndpoint>(
            $"api/endpoints/{Uri.EscapeDataString(endpoint)}/tuning{(setting is null ? "" : $"/{Uri.EscapeDataString(setting)}")}",
            cancellationToken
        );

    public Task<Page<AuditFactView>> FindAsync(AuditQuery query, CancellationToken cancellationToken) =>
        GetAsync<Page<AuditFactView>>($"api/messages?{MessageParameters.Write(query)}", cancellationToken);

    public async Task<IReadOnlyList<AuditFactView>> GetFactsAsync(Guid messageId, CancellationToken cancellationToken) =>
        (await GetAsync<Page<AuditFactView>>($"api/messages/{messageId}", cancellationToken)).Items;

    public async Task<string> DrawJourneyAsync(Guid messageId, JourneyFormat format, CancellationToken cancellationToken) =>
        Encoding.UTF8.GetString(await DownloadAsync($"api/messages/{messageId}?format={CommandJson.NameOf(format)}", cancellationToken));

    public async Task<SendReceipt> SendAsync(
        string subject,
        ReadOnlyMemory<byte> body,
        string contentType,
        IReadOnlyDictionary<string, string> headers,
        int count,
        CancellationToken cancellationToken
    )
    {
        using var content = new ReadOnlyMemoryContent(body);
        content.Headers.ContentType = MediaTypeHeaderValue.Parse(contentType);
        using var request = new HttpRequestMessage(HttpMethod.Post, $"api/topics/{Uri.EscapeDataString(subject)}/messages?count={count}")
        {
            Content = content,
        };
        foreach (var (name, value) in headers)
            request.Headers.TryAddWithoutValidation(name, value);
        request.Headers.ExpectContinue = true; // lets the host refuse an oversized body before it is sent
        return await AskAsync<SendReceipt>(request, cancellationToken);
    }

    public async Task<T> GetAsync<T>(string path, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        return await AskAsync<T>(request, cancellationToken);
    }

    public async Task<T> PostAsync<T>(string path, object body, CancellationToken cancellationToken, string? command = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, path)
        {
            Content = JsonContent.Create(body, body.GetType(), options: ManagementServer.Json),
        };
        NameOperator(request);
        if (command is not null)
            request.Headers.Add(Operators.CommandHeader, command);
        return await AskAsync<T>(request, cancellationToken);
    }

    public async Task<T> PatchAsync<T>(string path, object body, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Patch, path)
        {
            Content = JsonContent.Create(body, body.GetType(), options: ManagementServer.Json),
        };
        NameOperator(request);
        return await AskAsync<T>(request, cancellationToken);
    }

    public async Task<T> DeleteAsync<T>(string path, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Delete, path);
        NameOperator(request);
        return await AskAsync<T>(request, cancellationToken);
    }

    public async Task<byte[]> DownloadAsync(string path, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        return await AskAsync(request, content => content.ReadAsByteArrayAsync(cancellationToken), cancellationToken);
    }

    // A container user may have no name; the host then uses the name of the key.
    private static void NameOperator(HttpRequestMessage request)
    {
        if (Environment.UserName is { Length: > 0 } name)
            request.Headers.Add(Operators.Header, name);
    }

    private Task<T> AskAsync<T>(HttpRequestMessage request, CancellationToken cancellationToken) =>
        AskAsync(
            request,
            async content => (await content.ReadFromJsonAsync<T>(ManagementServer.Json, cancellationToken))!,
            cancellationToken
        );

    private async Task<T> AskAsync<T>(HttpRequestMessage request, Func<HttpContent, Task<T>> read, CancellationToken cancellationToken)
    {
        try
        {
            await ReachAsync(cancellationToken);
            using var response = await _http.SendAsync(request, cancellationToken);
            if (!response.IsSuccessStatusCode)
                throw await RefusalAsync(response, cancellationToken);
            return await read(response.Content);
        }
        catch (HttpRequestException ex)
        {
            throw Unreachable(
                ex.HttpRequestError == HttpRequestError.ConnectionError ? "nobody listens there" : ex.HttpRequestError.ToString()
            );
        }
        catch (SocketException)
        {
            throw Unreachable("it resets connections"); // the client throws it bare where the connection was just opened
        }
        catch (TaskCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw Unreachable("no answer in time");
        }
        catch (JsonException)
        {
            throw new CommandException(ExitCode.Failed, "ESB-CLI-ANSWER", $"{_host.Authority} answers, but not as a management API.");
        }
    }

    private async Task ReachAsync(CancellationToken cancellationToken)
    {
        if (_reached)
            return;
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        late.CancelAfter(ReachTime);
        using var live = await _http.GetAsync("health/live", late.Token);
        _reached = true;
    }

    private CommandException Unreachable(string reason) =>
        new(ExitCode.Unreachable, "ESB-CLI-UNREACHABLE", $"No host can be reached at {_host.Authority}: {reason}.");

    private string WhatIsWrongWithKey() =>
        _http.DefaultRequestHeaders.Authorization is null
            ? $"There is no key: ESB_KEY is not set, and there is no file {Path.GetFullPath(KeyFile)}."
            : $"The host at {_host.Authority} does not accept the key.";

    private async Task<CommandException> RefusalAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        if (response.StatusCode is HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden)
            return new CommandException(
                ExitCode.NotAuthorized,
                "ESB-CLI-KEY",
                $"{WhatIsWrongWithKey()} The host's key stands in {ManagementKey.DefaultFile} below the host's working directory; "
                    + $"name it with --key-file or put it into ESB_KEY."
            );
        var problem =
            response.Content.Headers.ContentType?.MediaType == "application/problem+json"
                ? await response.Content.ReadFromJsonAsync<Problem>(ManagementServer.Json, cancellationToken)
                : null;
        var exitCode = response.StatusCode switch
        {
            HttpStatusCode.BadRequest
            or HttpStatusCode.NotFound
            or HttpStatusCode.Conflict
            or HttpStatusCode.RequestEntityTooLarge
            or HttpStatusCode.UnprocessableEntity => ExitCode.Usage,
            HttpStatusCode.ServiceUnavailable => ExitCode.Unreachable,
            _ => ExitCode.Failed,
        };
        return new CommandException(
            exitCode,
            problem?.Code ?? "ESB-CLI-ANSWER",
            problem?.Detail ?? $"{_host.Authority} answered {(int)response.StatusCode}."
        );
    }

    private sealed record Problem(string? Code, string? Detail);
}
