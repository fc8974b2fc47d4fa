using Esb.Core.Messages;
using Esb.Endpoints.Files;

namespace Esb.Tests.Endpoints.Files;

/// <summary>An attempt to write a file that goes on after its time was up, as on a disk that hangs.</summary>
[TestFixture]
internal sealed class GivenUpFileTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [TestCase(FileExistsRule.Replace)]
    [TestCase(FileExistsRule.Unique)]
    [Property("Case", "FIL-09")]
    public async Task Attempt_that_was_given_up_while_it_wrote_leaves_the_file_of_a_later_message_alone(FileExistsRule rule)
    {
        using var givenUp = new CancellationTokenSource();
        await using var adapter = SomeFiles.Outbound(_folder.FullName, "order.xml", rule);
        var late = Some.Message() with { Body = MessageBody.FromStream(new HangingStream("<old/>"u8.ToArray(), OvertakeAsync)) };

        Assert.That(
            async () => await adapter.CreateInstance().SendAsync(late, givenUp.Token),
            Throws.InstanceOf<OperationCanceledException>()
        );

        Assert.That(_folder.GetFiles().Select(file => File.ReadAllText(file.FullName)), Is.EqualTo(["<new/>"]));

        async Task OvertakeAsync()
        {
            await givenUp.CancelAsync();
            await adapter.CreateInstance().SendAsync(Some.Message("<new/>"), CancellationToken.None);
        }
    }

    /// <summary>Something happens between its last byte and its end.</summary>
    private sealed class HangingStream(byte[] bytes, Func<Task> meanwhile) : MemoryStream(bytes)
    {
        public override async Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken)
        {
            await base.CopyToAsync(destination, bufferSize, cancellationToken);
            await meanwhile();
        }
    }
}
