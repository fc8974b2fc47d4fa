using System.Text.Json;
using Esb.Core.Endpoints;
using Esb.Tests.Endpoints.Contracts;

namespace Memo.Tests;

/// <summary>The tests are inherited; here stands only where they find what was sent.</summary>
public sealed class MemoOutboundTests : OutboundEndpointContract
{
    private DirectoryInfo _folder = null!;

    private string Memo => Path.Combine(_folder.FullName, "memo.jsonl");

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("memo-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    protected override IOutboundAdapter Create() => Create(Memo);

    protected override IOutboundAdapter CreateAway()
    {
        File.WriteAllText(Memo, ""); // where a folder would have to be
        return Create(Path.Combine(Memo, "memo.jsonl"));
    }

    protected override async Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken) =>
        [.. (await File.ReadAllLinesAsync(Memo, cancellationToken)).Select(TextOf)];

    private static MemoAdapter Create(string file) => new(new MemoOutboundConfig { Name = "memo", File = file }, maxBodyBytes: 1024);

    private static string TextOf(string line) => JsonDocument.Parse(line).RootElement.GetProperty("body").GetString()!;
}
