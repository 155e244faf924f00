// What `import os.lock` names. The declarations are in the Swift module `os`.
