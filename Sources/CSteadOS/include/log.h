// What `import os.log` names. The declarations are in the Swift module `os`.
